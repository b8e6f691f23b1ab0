public import Foundation

/// A file format that holds a whole graph of objects, read and written at once.
///
/// Queue: any. Cost: O(bytes), all of them in memory. Every function that reads or writes throws
/// `StoreError`: `.corrupt` for what the format cannot be, `.unsupported` for a newer one,
/// `.invalidValue` for a value it has no form for.
public protocol GraphFormat: Sendable {
    /// The type as the metadata and programs name it, for example `XML`.
    static var storeType: String { get }
    /// Reads the contents of the file at `path`. Throws `StoreError`.
    static func read(_ data: Data, path: String) throws -> StoredGraph
    /// Reads what stands before the objects: identifier and metadata. Throws as `read` does.
    static func readHead(_ data: Data, path: String) throws -> StoredGraph
    /// The bytes of a file that says all of `graph`. Throws `StoreError` `.invalidValue` for a
    /// value that the format cannot hold.
    static func write(_ graph: StoredGraph) throws -> Data
    /// An entity's name as the file spells it.
    static func entityName(_ name: String) -> String
    /// A property's name as the file spells it.
    static func propertyName(_ name: String) -> String
}

/// How an atomic store is to be opened.
public struct GraphFileOptions: Sendable {
    /// Refuses to save, and never writes to the file.
    public var isReadOnly = false
    /// Opens files made for another model; what that model does not have is refused all the same.
    public var ignoresVersioning = false
    /// Opens a store of a model with derived attributes, which the file does not keep: they are
    /// computed from what it has. Else such a model is refused, as Apple refuses it.
    public var leavesOutDerived = false
    /// Who may read and write a file that is made; nil for what new files have.
    package var access: FileAccess?
    /// What the rows of the file were called in the store that it is a copy of.
    package var former: FormerRows?

    public init() {}
}
