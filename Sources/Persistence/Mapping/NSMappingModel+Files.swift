internal import Foundation
internal import ObjectModel
internal import Stores

internal import class Predicates.NSExpression

// Mapping models in files.
extension NSMappingModel {
    /// Compiled ones, then sources.
    static let fileExtensions = ["cdm", "xcmappingmodel"]

    static func mappings(in url: URL) throws -> [NSEntityMapping] {
        let file = try file(at: url)
        switch StoreFileType.type(at: file) {
        case NSXMLStoreType:
            return try MappingSource(XMLRowStore.contents(at: file), file: file).entityMappings()
        case NSBinaryStoreType:
            let data = try Data(contentsOf: file)
            do {
                return try ArchivedMapping(data, file: file.path).entities.map(NSEntityMapping.init)
            } catch let error as ModelFileError where error.code == .notAModel {
                // The older form of a source is the same store in a binary file.
                guard let graph = try? BinaryRowStore.contents(at: file) else { throw error }
                return try MappingSource(graph, file: file).entityMappings()
            }
        default:
            throw ModelFileError(
                .notAModel,
                "\(file.path) is no mapping model; expected a compiled one (.cdm) or the "
                    + "xcmapping.xml of a source (.xcmappingmodel)", fields: ["file": file.path])
        }
    }

    /// The file in a source's folder; `url` itself where it is no folder.
    private static func file(at url: URL) throws -> URL {
        switch FileKind(at: url.path) {
        case .file: return url
        case .folder: break
        case .nothing, .link, .other:
            throw ModelFileError(
                .cannotRead, "there is no file or folder \(url.path); check the path",
                fields: ["file": url.path])
        }
        let named = url.appendingPathComponent("xcmapping.xml")
        if FileKind(at: named.path) == .file { return named }
        let inside = try FileManager.default.contentsOfDirectory(
            at: url, includingPropertiesForKeys: nil)
        let stores = inside.filter { StoreFileType.type(at: $0) != nil }
        guard stores.count == 1 else {
            throw ModelFileError(
                .notAModel, "the folder \(url.path) holds no mapping model; expected xcmapping.xml",
                fields: ["file": url.path])
        }
        return stores[0]
    }
}

extension NSEntityMapping {
    fileprivate convenience init(_ archived: ArchivedMapping.Entity) throws {
        self.init()
        name = archived.name
        mappingType =
            NSEntityMappingType(rawValue: UInt(max(archived.type, 0)))
            ?? .undefinedEntityMappingType
        sourceEntityName = archived.sourceName
        sourceEntityVersionHash = archived.sourceHash
        destinationEntityName = archived.destinationName
        destinationEntityVersionHash = archived.destinationHash
        entityMigrationPolicyClassName = archived.policyClassName
        sourceExpression = try archived.sourceExpression.map { try NSExpression.parse($0) }
        attributeMappings = try archived.attributes?.map(NSPropertyMapping.init)
        relationshipMappings = try archived.relationships?.map(NSPropertyMapping.init)
        userInfo = archived.userInfo
    }
}

extension NSPropertyMapping {
    fileprivate convenience init(_ archived: ArchivedMapping.Property) throws {
        self.init()
        name = archived.name
        valueExpression = try archived.expression.map { try NSExpression.parse($0) }
        userInfo = archived.userInfo
    }
}
