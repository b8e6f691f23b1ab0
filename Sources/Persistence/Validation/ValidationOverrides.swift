internal import Foundation

/// Finds the classes that override `validateValue(_:forKey:)`.
///
/// A save that called it for each attribute of each object would spend a sixth of its time there,
/// to come back to the checks that it makes at once for all others. So the tables of methods are
/// compared: the place of the method is where a class that overrides nothing else differs from
/// `NSManagedObject`, and one that overrides nothing does not. Where that is not one place, all
/// classes count as overriding.
enum ValidationOverrides {
    private class Same: NSManagedObject {}

    private final class Other: NSManagedObject {
        override func validateValue(_ value: Any?, forKey key: String) throws {}
    }

    private static let place: Int? = {
        let base = methods(of: NSManagedObject.self)
        let (same, other) = (methods(of: Same.self), methods(of: Other.self))
        guard same.count >= base.count, other.count >= base.count else { return nil }
        let places = base.indices.filter { same[$0] == base[$0] && other[$0] != base[$0] }
        return places.count == 1 ? places[0] : nil
    }()

    private static let original = place.map { methods(of: NSManagedObject.self)[$0] }

    /// Whether objects of `type` are validated by an override.
    static func contains(_ type: NSManagedObject.Type) -> Bool {
        if type == NSManagedObject.self { return false }
        guard let place, let original else { return true }
        let methods = methods(of: type)
        return place < methods.count ? methods[place] != original : true
    }

    /// The words of a class's metadata from its address point on. The sizes stand where the runtime
    /// has them: docs/ABI/TypeMetadata.rst of the Swift repository.
    private static func methods(of type: AnyObject.Type) -> UnsafeBufferPointer<UInt> {
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        let size = metadata.load(fromByteOffset: 32, as: UInt32.self)
        let addressPoint = metadata.load(fromByteOffset: 36, as: UInt32.self)
        let words = Int(size - min(addressPoint, size)) / MemoryLayout<UInt>.size
        return UnsafeBufferPointer(
            start: metadata.assumingMemoryBound(to: UInt.self), count: words)
    }
}
