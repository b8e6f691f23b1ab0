internal import Foundation
internal import ObjectModel

/// Finds the model's name of what a Swift key path reads, so that stores can use it.
///
/// The path is evaluated once on an object of its own whose attributes hold values that nobody
/// else has; accessors of `@NSManaged` and `@Managed` write down what they read. A property that
/// computes something, or reads two attributes, has no name.
enum KeyPathNaming {
    /// The name, or names with dots between; nil where there is none, and where no loaded model
    /// has the class.
    static func name(of path: AnyKeyPath) -> String? {
        guard let type = type(of: path).rootType as? NSManagedObject.Type,
            let entity = KnownClasses.knownEntity(of: type)
        else { return nil }
        return name(of: path, entity: entity)
    }

    static func name(of path: AnyKeyPath, entity: NSEntityDescription) -> String? {
        let kind = type(of: path)
        guard let type = kind.rootType as? NSManagedObject.Type else { return nil }
        let probe = ProbeObject.make(type, entity)
        let reads = AccessRecord()
        let result = reads.recording { (probe as Any)[keyPath: path] as Any }
        guard reads.isChain(from: probe), let last = reads.last, last.fits(kind.valueType),
            last.isSame(result)
        else { return nil }
        return reads.names.joined(separator: ".")
    }
}

/// Objects that only key paths are tried on.
enum ProbeObject {
    /// An object of no context whose attributes hold unlikely values.
    static func make(
        _ type: NSManagedObject.Type, _ entity: NSEntityDescription
    ) -> NSManagedObject {
        let probe = type.init(entity: entity, insertInto: nil)
        for attribute in entity.attributesByName.values where !attribute.isTransient {
            if let value = value(of: attribute.attributeType) {
                probe.setPrimitiveValue(value, forKey: attribute.name)
            }
        }
        return probe
    }

    private static func value(of type: NSAttributeType) -> Any? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: 12_347
        case .doubleAttributeType, .floatAttributeType: 12_347.25
        case .decimalAttributeType: NSDecimalNumber(value: 12_347.25)
        case .booleanAttributeType: true
        case .stringAttributeType: "a name that Nobody has 12347"
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: 12_347.25)
        case .binaryDataAttributeType: Data([1, 2, 3, 4, 7])
        case .UUIDAttributeType: UUID(uuidString: "5D1F0D7E-21B1-4A73-8F3B-9B2C6F6A1234")
        case .URIAttributeType: URL(string: "x-probe://nobody/12347")
        case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType,
            .compositeAttributeType:
            nil
        }
    }
}
