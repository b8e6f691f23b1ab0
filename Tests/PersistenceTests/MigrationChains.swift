import CoreData
import Foundation
import ObjectModel
import Testing

/// A bundle of the corpus with several versions of a model, in the order in which people count.
struct MigrationChain: CustomTestStringConvertible, Sendable {
    let bundle: String
    let versions: [String]
    var testDescription: String { (bundle as NSString).lastPathComponent }

    /// Each version with the next, and with the last.
    var steps: [(from: String, to: String)] {
        let next = zip(versions, versions.dropFirst()).map { (from: $0, to: $1) }
        let last = versions.dropLast(2).map { (from: $0, to: versions[versions.count - 1]) }
        return next + last
    }

    private static func files(_ folder: String, _ suffix: String) -> [String] {
        guard let place = MigrationCorpusTests.folder?.appendingPathComponent(folder),
            let names = FileManager.default.enumerator(atPath: place.path)
        else { return [] }
        return names.compactMap { $0 as? String }.filter { $0.hasSuffix(suffix) }.sorted()
            .map { "\(folder)/\($0)" }
    }

    static let all: [MigrationChain] = files("xcdatamodel", ".xcdatamodeld").compactMap { name in
        let versions = try? VersionBundle(at: file(name)).versions
        guard let versions, versions.count > 1 else { return nil }
        return MigrationChain(
            bundle: name,
            versions: versions.sorted { $0.compare($1, options: .numeric) == .orderedAscending })
    }

    /// The sources of mapping models.
    static let mappings = files("mapping", ".xcmappingmodel")

    static func file(_ name: String) -> URL {
        (MigrationCorpusTests.folder ?? URL(fileURLWithPath: "/")).appendingPathComponent(name)
    }

    func model(_ version: String) throws -> NSManagedObjectModel {
        try NSManagedObjectModel.load(from: Self.file(bundle), version: version)
    }
}
