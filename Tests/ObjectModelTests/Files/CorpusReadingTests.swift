import Foundation
import Testing

@testable import ObjectModel

@Suite(.enabled(if: Corpus.isPresent, "the corpus is not at hand"))
struct CorpusReadingTests {
    @Test func everyModelSourceIsRead() throws {
        let files = Corpus.files("xcdatamodel", endingIn: ".xcdatamodel/contents")
        #expect(files.count > 100)
        var properties = 0
        for file in files {
            let model = try NSManagedObjectModel.load(from: file)
            #expect(!model.entities.isEmpty || files.count > 1)
            for entity in model.entities {
                properties += entity.declaredProperties.count
                for relationship in entity.relationshipsByName.values {
                    #expect(relationship.destinationEntity != nil)
                }
            }
        }
        #expect(properties > 6000)
    }

    @Test func everyBundleHasACurrentVersion() throws {
        let marks = Corpus.files("xcdatamodel", endingIn: ".xccurrentversion")
        #expect(marks.count > 10)
        for mark in marks {
            let bundle = mark.deletingLastPathComponent()
            let names = try FileManager.default.contentsOfDirectory(atPath: bundle.path)
            let text = try String(contentsOf: mark, encoding: .utf8)
            let current = names.first { text.contains("<string>\($0)</string>") }
            guard let current else { continue }
            let model = try NSManagedObjectModel.load(from: bundle)
            let same = try NSManagedObjectModel.load(from: bundle.appendingPathComponent(current))
            #expect(model.entities.map(\.name) == same.entities.map(\.name))
            let named = try NSManagedObjectModel.load(from: bundle, version: current)
            #expect(named.entities.map(\.name) == same.entities.map(\.name))
        }
    }
}
