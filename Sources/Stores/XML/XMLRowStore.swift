public import Foundation

/// A store in an XML file of Apple's format: for small graphs, for tests, for version control.
public typealias XMLRowStore = GraphRowStore<XMLGraphFormat>

/// The form of Apple's XML stores.
public enum XMLGraphFormat: GraphFormat {
    public static let storeType = "XML"

    public static func read(_ data: Data, path: String) throws -> StoredGraph {
        try XMLGraphReader.read(data, path: path)
    }

    public static func readHead(_ data: Data, path: String) throws -> StoredGraph {
        try XMLGraphReader.read(data, path: path, headOnly: true)
    }

    public static func write(_ graph: StoredGraph) throws -> Data {
        try XMLGraphWriter.data(graph)
    }

    /// Apple's files spell entities in upper case.
    public static func entityName(_ name: String) -> String { name.uppercased() }

    /// Apple's files spell properties in lower case.
    public static func propertyName(_ name: String) -> String { name.lowercased() }
}
