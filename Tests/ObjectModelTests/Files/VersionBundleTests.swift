import Foundation
import Testing

@testable import ObjectModel

@Suite struct VersionBundleTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func bundle(_ versions: [String], current: String?) throws -> URL {
        for version in versions {
            try scratch.write(
                "<model><entity name=\"\(version)\"/></model>",
                to: "M.xcdatamodeld/\(version).xcdatamodel/contents")
        }
        if let current {
            try scratch.write(
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0"><dict>
                <key>_XCCurrentVersionName</key><string>\(current).xcdatamodel</string>
                </dict></plist>
                """, to: "M.xcdatamodeld/.xccurrentversion")
        }
        return scratch.folder.appendingPathComponent("M.xcdatamodeld")
    }

    @Test func theCurrentVersionIsRead() throws {
        let url = try bundle(["M", "M 2"], current: "M 2")
        #expect(try NSManagedObjectModel.load(from: url).entities.map(\.name) == ["M 2"])
        #expect(NSManagedObjectModel(contentsOf: url)?.entities.map(\.name) == ["M 2"])
    }

    @Test func aNamedVersionIsRead() throws {
        let url = try bundle(["M", "M 2"], current: "M 2")
        #expect(try NSManagedObjectModel.load(from: url, version: "M").entities[0].name == "M")
        let named = try NSManagedObjectModel.load(from: url, version: "M.xcdatamodel")
        #expect(named.entities[0].name == "M")
    }

    @Test func aLoneVersionNeedsNoMark() throws {
        let url = try bundle(["M"], current: nil)
        #expect(try NSManagedObjectModel.load(from: url).entities.map(\.name) == ["M"])
    }

    @Test func severalVersionsWithoutMarkAskForAName() throws {
        let url = try bundle(["M", "M 2"], current: nil)
        let error = #expect(throws: ModelFileError.self) {
            try NSManagedObjectModel.load(from: url)
        }
        #expect(error?.code == .missingVersion)
        #expect(error?.message.contains("M, M 2") == true)
        #expect(NSManagedObjectModel(contentsOf: url) == nil)
    }

    @Test(arguments: ["M 3", "../M"])
    func anUnknownVersionIsRefused(version: String) throws {
        let url = try bundle(["M"], current: nil)
        let error = #expect(throws: ModelFileError.self) {
            try NSManagedObjectModel.load(from: url, version: version)
        }
        #expect(error?.code == .missingVersion)
    }

    @Test func whatIsNotThereCannotBeRead() throws {
        let missing = scratch.folder.appendingPathComponent("None.xcdatamodeld")
        let error = #expect(throws: ModelFileError.self) {
            try NSManagedObjectModel.load(from: missing)
        }
        #expect(error?.code == .cannotRead)
        let empty = #expect(throws: ModelFileError.self) {
            try NSManagedObjectModel.load(from: scratch.folder)
        }
        #expect(empty?.code == .notAModel)
        let device = #expect(throws: ModelFileError.self) {
            try NSManagedObjectModel.load(from: URL(fileURLWithPath: "/dev/zero"))
        }
        #expect(device?.code == .cannotRead)
    }
}
