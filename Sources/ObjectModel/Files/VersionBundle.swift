package import Foundation

/// A folder of a model's versions: an `.xcdatamodeld` of sources or an `.momd` of compiled models.
package struct VersionBundle {
    /// The versions' names without their suffix, sorted.
    package let versions: [String]
    /// `.xcdatamodel` or `.mom`.
    package let suffix: String
    /// The version the bundle says is current; nil when it says nothing.
    package let currentVersion: String?

    /// Looks into the bundle at `url`. Throws `ModelFileError` where it holds no versions.
    package init(at url: URL) throws {
        try self.init(at: url, names: ModelFile.names(in: url))
    }

    /// Looks into the folder at `url`, which holds `names`.
    init(at url: URL, names: [String]) throws {
        let kind = [".xcdatamodel", ".mom"].first { suffix in
            names.contains { $0.hasSuffix(suffix) }
        }
        guard let kind else {
            if names.contains(where: { $0.hasSuffix(".omo") }) {
                throw ModelFileError(
                    .unsupportedFormat, file: url.path,
                    "the bundle holds optimized models (.omo) only, a private form of Apple's"
                        + " frameworks; compile its source again, and keep the .mom")
            }
            throw ModelFileError(
                .notAModel, file: url.path,
                "the folder holds no model; expected contents, *.xcdatamodel or *.mom in it")
        }
        suffix = kind
        versions = names.filter { $0.hasSuffix(kind) }.map { String($0.dropLast(kind.count)) }
            .sorted()
        let (file, key) =
            kind == ".mom"
            ? (VersionInfo.fileName, VersionInfo.currentVersionKey)
            : (".xccurrentversion", "_XCCurrentVersionName")
        let marked = ModelFile.propertyList(url.appendingPathComponent(file))?[key] as? String
        currentVersion = marked.map { $0.hasSuffix(kind) ? String($0.dropLast(kind.count)) : $0 }
    }

    /// A version's name as callers may spell it, without the suffix.
    func bareName(_ version: String) -> String {
        version.hasSuffix(suffix) ? String(version.dropLast(suffix.count)) : version
    }
}
