internal import Foundation

/// The one file that holds a model, found behind whatever its URL points at.
///
/// What a URL is, is told by its contents: a folder with `contents` (or with `elements`, as Xcode 3
/// wrote it) is an `.xcdatamodel`, a folder of such folders an `.xcdatamodeld`, a folder of `.mom`
/// files an `.momd`.
struct ModelFile {
    let data: Data
    let path: String

    /// Larger files than this are refused unread.
    static let bytesMax = 64 << 20

    /// Finds and reads the model at `url`: of several versions the one named, or else the current
    /// one.
    init(at url: URL, version: String?) throws {
        path = try Self.locate(url, version: version).path
        data = try Self.bytes(at: path)
        if let refusal = ForeignFile.refusal(data, path: path) { throw refusal }
    }

    /// Whether the bytes are a compiled model's archive.
    var isArchive: Bool { data.starts(with: Array("bplist00".utf8)) }

    // MARK: Finding

    private static func locate(_ url: URL, version: String?) throws -> URL {
        guard let isFolder = isFolder(url) else {
            throw ModelFileError(
                .cannotRead, file: url.path, "there is no such file or folder; check the path")
        }
        guard isFolder else { return url }
        let names = try names(in: url)
        if names.contains("contents") { return url.appendingPathComponent("contents") }
        if names.contains("elements") { return url.appendingPathComponent("elements") }
        if names.contains("xcmapping.xml") { return url.appendingPathComponent("xcmapping.xml") }
        return try locateVersion(in: url, names: names, version: version)
    }

    private static func locateVersion(
        in url: URL, names: [String], version: String?
    ) throws -> URL {
        let bundle = try VersionBundle(at: url, names: names)
        let list = bundle.versions.joined(separator: ", ")
        let only = bundle.versions.count == 1 ? bundle.versions[0] : nil
        guard let chosen = version.map(bundle.bareName) ?? bundle.currentVersion ?? only else {
            throw ModelFileError(
                .missingVersion, file: url.path,
                "the bundle does not say which of its versions is current; name one of \(list)")
        }
        guard bundle.versions.contains(chosen) else {
            throw ModelFileError(
                .missingVersion, file: url.path,
                "the bundle has no version “\(chosen)”; it has \(list)")
        }
        return try locate(url.appendingPathComponent(chosen + bundle.suffix), version: nil)
    }

    /// The names of the versions in the bundle at `url`, sorted; one nil for a model without any.
    static func versions(in url: URL) throws -> [String?] {
        guard isFolder(url) == true else { return [nil] }
        let names = try names(in: url)
        guard !names.contains("contents"), !names.contains("elements") else { return [nil] }
        return try VersionBundle(at: url, names: names).versions
    }

    // MARK: Reading

    static func propertyList(_ url: URL) -> [String: Any]? {
        guard let data = try? bytes(at: url.path) else { return nil }
        return try? PropertyListValues.dictionary(in: data, file: url.path)
    }

    private static func bytes(at path: String) throws -> Data {
        do {
            let facts = try FileManager.default.attributesOfItem(atPath: resolved(path))
            guard facts[.type] as? FileAttributeType == .typeRegular else {
                throw ModelFileError(.cannotRead, file: path, "this is no ordinary file")
            }
            guard let size = facts[.size] as? NSNumber, size.intValue <= bytesMax else {
                throw ModelFileError(
                    .tooLarge, file: path,
                    "the file is larger than \(bytesMax >> 20) MiB; no model is")
            }
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch let error as ModelFileError {
            throw error
        } catch {
            throw ModelFileError(
                .cannotRead, file: path,
                "the file cannot be read; check that it exists and its rights",
                cause: error)
        }
    }

    static func names(in url: URL) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: url.path)
        } catch {
            throw ModelFileError(
                .cannotRead, file: url.path, "the folder cannot be listed; check its rights",
                cause: error)
        }
    }

    private static func isFolder(_ url: URL) -> Bool? {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            return nil
        }
        return isFolder.boolValue
    }

    private static func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }
}
