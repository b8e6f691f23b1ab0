internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Synchronization

/// Finds the model's name for the Swift key path of a sort descriptor, so that stores can sort by
/// it.
///
/// A key path of a property that reads one attribute through `@Managed` or generated accessors is
/// evaluated once on an object of its own, which writes down what was read.
enum SortNaming {
    /// The same order by name; the descriptor itself where the name cannot be found.
    static func named(
        _ descriptor: NSSortDescriptor, entity: NSEntityDescription
    ) -> NSSortDescriptor {
        guard key(of: descriptor) == nil, let name = name(of: descriptor.keyPath, entity: entity)
        else { return descriptor }
        return NSSortDescriptor(key: name, ascending: descriptor.ascending)
    }

    static func name(of path: AnyKeyPath, entity: NSEntityDescription) -> String? {
        let kind = type(of: path)
        guard let type = kind.rootType as? NSManagedObject.Type else { return nil }
        let probe = type.init(entity: entity, insertInto: nil)
        let reads = AccessRecord()
        _ = reads.recording { (probe as Any)[keyPath: path] }
        guard reads.keys.count == 1, let read = reads.keys.first, read.type == kind.valueType,
            case .attribute = probe.shape.slot(read.name)
        else { return nil }
        return read.name
    }
}

/// Writes down which keys accessors read, while it is current.
final class AccessRecord: @unchecked Sendable {
    // @unchecked: made, filled and read by one call on one thread.
    private(set) var keys: [(name: String, type: Any.Type)] = []

    @TaskLocal static var current: AccessRecord?
    /// How many records are current, on all threads: accessors look here first, since a look at a
    /// task's values costs more than the rest of a read.
    private static let uses = Atomic<Int>(0)
    static var isInUse: Bool { uses.load(ordering: .relaxed) > 0 }

    /// Runs `work` with this record current.
    func recording<Value>(_ work: () -> Value) -> Value {
        Self.uses.add(1, ordering: .relaxed)
        defer { Self.uses.subtract(1, ordering: .relaxed) }
        return Self.$current.withValue(self, operation: work)
    }

    func note(_ name: String, _ type: Any.Type) { keys.append((name, type)) }
}
