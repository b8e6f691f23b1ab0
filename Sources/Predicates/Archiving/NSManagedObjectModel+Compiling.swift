public import Foundation
public import ObjectModel

// Compiled models. They stand here since their predicates are archived from parsed texts.
extension NSManagedObjectModel {
    /// The model as the bytes of a `.mom`. Throws `ModelFileError` where the model holds what no
    /// archive can.
    public func compiledData() throws -> Data {
        try archived(as: .compiled, PredicateArchiver())
    }

    /// The model as a store keeps it in `Z_MODELCACHE`, before it is compressed. Throws as
    /// `compiledData`.
    package func cacheData() throws -> Data {
        try archived(as: .cache, PredicateArchiver())
    }

    /// Writes the versions of a model as an `.momd` at `url`: a `.mom` for each, and the list that
    /// names the current one. Throws `ModelFileError`.
    public static func writeCompiledBundle(
        _ versions: [String: NSManagedObjectModel], current: String, to url: URL
    ) throws {
        try writeCompiledBundle(versions, current: current, to: url, PredicateArchiver())
    }
}
