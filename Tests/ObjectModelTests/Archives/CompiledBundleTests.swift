import Foundation
import Predicates
import Testing

@testable import ObjectModel

@Suite struct CompiledBundleTests {
    let scratch: Scratch
    let old = BuildingTests.library()
    let new = BuildingTests.library()

    init() throws {
        scratch = try Scratch()
        new.entitiesByName["Novel"]?.versionHashModifier = "2"
    }

    private func bundle() throws -> URL {
        let url = scratch.folder.appendingPathComponent("Library.momd")
        try NSManagedObjectModel.writeCompiledBundle(
            ["Library": old, "Library 2": new], current: "Library 2", to: url)
        return url
    }

    @Test func aWrittenBundleOpensItsCurrentVersion() throws {
        let url = try bundle()
        let current = try NSManagedObjectModel.load(from: url)
        #expect(current.versionChecksum == new.versionChecksum)
        let former = try NSManagedObjectModel.load(from: url, version: "Library")
        #expect(former.versionChecksum == old.versionChecksum)
        let versions = try VersionBundle(at: url)
        #expect(versions.versions == ["Library", "Library 2"])
        #expect(versions.currentVersion == "Library 2")
    }

    @Test func checksumsAreListedByVersion() throws {
        let url = try bundle()
        let wanted = ["Library": old.versionChecksum, "Library 2": new.versionChecksum]
        #expect(try NSManagedObjectModel.checksumsForVersionedModel(at: url) == wanted)
        try FileManager.default.removeItem(at: url.appendingPathComponent("VersionInfo.plist"))
        #expect(try NSManagedObjectModel.checksumsForVersionedModel(at: url) == wanted)
    }

    @Test func aBundleNeedsItsCurrentVersion() {
        let error = #expect(throws: ModelFileError.self) {
            try NSManagedObjectModel.writeCompiledBundle(
                ["Library": old], current: "Other", to: scratch.folder)
        }
        #expect(error?.code == .missingVersion)
    }

    @Test func referencesFindTheirVersionByChecksum() throws {
        let url = try bundle()
        let former = NSManagedObjectModelReference(
            fileURL: url, versionChecksum: old.versionChecksum)
        #expect(try former.resolve().versionChecksum == old.versionChecksum)
        let given = NSManagedObjectModelReference(model: new, versionChecksum: new.versionChecksum)
        #expect(try given.resolve() === new)
        let stale = NSManagedObjectModelReference(model: new, versionChecksum: old.versionChecksum)
        #expect(throws: ModelFileError.self) { try stale.resolve() }
        #expect(stale.resolvedModel == nil && given.resolvedModel === new)
        let unknown = NSManagedObjectModelReference(fileURL: url, versionChecksum: "none")
        #expect(throws: ModelFileError.self) { try unknown.resolve() }
    }

    @Test func referencesFindModelsAmongResources() throws {
        let url = scratch.folder.appendingPathComponent("App.bundle/Library.mom")
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try old.compiledData().write(to: url)
        let resources = try #require(Bundle(path: scratch.folder.path + "/App.bundle"))
        let named = NSManagedObjectModelReference(
            name: "Library", in: resources, versionChecksum: old.versionChecksum)
        #expect(try named.resolve().versionChecksum == old.versionChecksum)
        let hashed = NSManagedObjectModelReference(
            entityVersionHashes: old.entityVersionHashesByName, in: resources,
            versionChecksum: old.versionChecksum)
        #expect(try hashed.resolve().versionChecksum == old.versionChecksum)
        let missing = NSManagedObjectModelReference(
            name: "Other", in: resources, versionChecksum: old.versionChecksum)
        #expect(throws: ModelFileError.self) { try missing.resolve() }
    }
}
