public import Foundation

/// A store in one binary file: like an XML store, smaller and quicker to read.
public typealias BinaryRowStore = GraphRowStore<BinaryGraphFormat>

/// A keyed archive of plain values; `README.md` of this module says of what.
public enum BinaryGraphFormat: GraphFormat {
    public static let storeType = "Binary"

    public static func read(_ data: Data, path: String) throws -> StoredGraph {
        var reader = try BinaryGraphReader(data, path: path)
        return try reader.graph()
    }

    public static func readHead(_ data: Data, path: String) throws -> StoredGraph {
        try BinaryGraphReader(data, path: path).head()
    }

    public static func write(_ graph: StoredGraph) throws -> Data {
        try BinaryGraphWriter.data(graph)
    }

    public static func entityName(_ name: String) -> String { name }
    public static func propertyName(_ name: String) -> String { name }
}

/// The names of the archive's parts.
enum BinaryKey {
    static let format = "NSBinaryStoreFormat"
    static let identifier = "NSStoreUUID"
    static let lastKey = "NSNextObjectID"
    static let metadata = "NSMetadata"
    static let entities = "NSEntities"
    static let name = "name"
    static let type = "type"
    static let minCount = "minCount"
    static let maxCount = "maxCount"
    static let destination = "destination"
    static let attributes = "attributes"
    static let relationships = "relationships"
    static let keys = "keys"
    static let values = "values"
    static let links = "links"
    static let currentFormat: Int64 = 1
}
