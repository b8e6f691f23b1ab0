internal import Foundation
internal import ObjectModel

/// Reads archived values of allowed classes; its reverse archives them. Source: Apple,
/// NSSecureUnarchiveFromDataTransformer.
///
/// A subclass that allows a class of the program's own overrides `allowedTopLevelClasses` and is
/// registered under the name that the model gives. Transformable attributes use it in reverse, as
/// Apple's do. Queue: any; one instance serves all.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer, @unchecked Sendable {
    // @unchecked: see ValueTransformer.

    /// The classes that the outermost value may be of.
    open class var allowedTopLevelClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self,
            NSDate.self, NSData.self, NSURL.self, NSUUID.self, NSNull.self,
        ]
    }

    open override class func transformedValueClass() -> AnyClass { NSObject.self }

    /// The value that data holds; nil for other data, and for values of classes that are not
    /// allowed.
    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data, ArchiveReach.isBounded(data),
            let archive = try? NSKeyedUnarchiver(forReadingFrom: data)
        else { return nil }
        archive.requiresSecureCoding = false
        guard let found = archive.decodeObject(forKey: NSKeyedArchiveRootObjectKey),
            Self.allows(found)
        else { return nil }
        return found
    }

    /// The archive of a value; nil where its class is not allowed or cannot be archived.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let value, Self.allows(value), !TransformableCoding.holdsDecimal(value) else {
            return nil
        }
        return try? NSKeyedArchiver.archivedData(
            withRootObject: value, requiringSecureCoding: false)
    }

    private static func allows(_ value: Any) -> Bool {
        let found: AnyClass = foundationClass(of: value)
        return allowedTopLevelClasses.contains { allowed in
            guard let object = value as? NSObject, let base = allowed as? NSObject.Type else {
                return found == allowed
            }
            return object.isKind(of: base) || found == allowed
        }
    }

    /// The class by which Foundation archives a value.
    private static func foundationClass(of value: Any) -> AnyClass {
        switch value {
        case is String: NSString.self
        case is [Any]: NSArray.self
        case is [AnyHashable: Any]: NSDictionary.self
        case is Set<AnyHashable>: NSSet.self
        case is Date: NSDate.self
        case is Data: NSData.self
        case is URL: NSURL.self
        case is UUID: NSUUID.self
        case let object as NSObject: type(of: object)
        default: NSNumber.self
        }
    }
}
