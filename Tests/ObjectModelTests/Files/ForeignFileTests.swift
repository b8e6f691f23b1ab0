import Foundation
import Testing

@testable import ObjectModel

/// Files that people take for models: each is told what it is and what to open instead.
@Suite struct ForeignFileTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func message(_ data: Data, _ name: String) throws -> String? {
        let url = scratch.folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: url)
        return #expect(throws: ModelFileError.self) {
            try NSManagedObjectModel.load(from: url)
        }?.message
    }

    @Test(arguments: [
        ("<?xml version=\"1.0\"?>\n<!DOCTYPE plist PUBLIC \"\">\n<plist/>", "a property list"),
        ("<?xml version=\"1.0\"?>\n<!DOCTYPE database SYSTEM \"\">\n<database/>", "an XML store"),
        (
            "<?xml version=\"1.0\"?>\n<!DOCTYPE database SYSTEM \"\">\n<key>XDDevMapping</key>",
            "the source of a mapping model"
        ),
        ("SQLite format 3\0", "a SQLite store"), ("momv2$!!!", "an optimized model"),
    ])
    func eachIsNamed(text: String, name: String) throws {
        let message = try #require(try message(Data(text.utf8), "thing"))
        #expect(message.contains("the file is \(name)"), "\(message)")
        #expect(message.contains("; "))
    }

    @Test func aMappingModelTellsItsMappings() throws {
        var builder = KeyedArchiveBuilder()
        let mappings = (1...6).map { number in
            builder.object(
                ["NSEntityMapping", "NSObject"],
                [("NSMappingName", .reference(builder.string("Map\(number)")))])
        }
        let root = builder.object(
            ["NSMappingModel", "NSObject"],
            [("NSEntityMappings", .reference(builder.array(mappings)))])
        let message = try #require(try message(builder.data(root: root), "a.cdm"))
        #expect(message.contains("a compiled mapping model (.cdm)"))
        #expect(message.contains("Map1, Map2, Map3, Map4 and 2 more"))
    }

    @Test func aBundleOfOptimizedModelsAsksForItsSource() throws {
        let inner = try message(Data("momv2$".utf8), "A.momd/A.omo")
        #expect(inner?.contains("open the .mom") == true)
        let bundle = scratch.folder.appendingPathComponent("A.momd")
        let error = #expect(throws: ModelFileError.self) {
            try NSManagedObjectModel.load(from: bundle)
        }
        #expect(error?.code == .unsupportedFormat)
        #expect(error?.message.contains("compile its source again") == true)
    }

    @Test(.enabled(if: Corpus.isPresent, "set DIPTYCH_CORPUS to the corpus"))
    func everyRealMappingModelIsNamed() throws {
        let files =
            Corpus.files("compiled", endingIn: ".cdm")
            + Corpus.files("mapping", endingIn: ".xcmappingmodel")
        #expect(files.count > 3)
        for file in files {
            let error = #expect(throws: ModelFileError.self) {
                try NSManagedObjectModel.load(from: file)
            }
            #expect(error?.message.contains("mapping model") == true, "\(file.path)")
        }
    }
}
