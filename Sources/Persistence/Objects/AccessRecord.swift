internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Stores
internal import Synchronization

/// Writes down which keys accessors read, while it is current.
final class AccessRecord: @unchecked Sendable {
    // @unchecked: made, filled and read by one call on one thread.

    /// One read of one accessor.
    struct Read {
        let owner: NSManagedObject
        let name: String
        let type: Any.Type
        let optionalType: Any.Type
        let value: Any

        /// Whether a key path to a value of type `type` may end here.
        func fits(_ type: Any.Type) -> Bool { type == self.type || type == optionalType }

        /// Whether a path's result is what was read, not something computed from it.
        func isSame(_ result: Any) -> Bool {
            if let object = value as? NSManagedObject {
                return result as? NSManagedObject === object
            }
            guard let read = plainConstant(value) as? AnyHashable,
                let result = plainConstant(result) as? AnyHashable
            else { return true }
            return read == result
        }
    }

    private var reads: [Read] = []

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

    /// Notes what an accessor of `owner` found.
    func note<Value>(_ name: String, of owner: NSManagedObject, _ value: Value) {
        reads.append(
            Read(
                owner: owner, name: name, type: Value.self, optionalType: Value?.self,
                value: value))
    }

    var names: [String] { reads.map(\.name) }
    /// What was read of one object.
    func names(of owner: NSManagedObject) -> [String] {
        reads.filter { $0.owner === owner }.map(\.name)
    }

    var last: Read? { reads.last }

    /// Whether each read but the first was of the object that the one before it found.
    func isChain(from origin: NSManagedObject) -> Bool {
        guard reads.first?.owner === origin else { return false }
        return zip(reads, reads.dropFirst()).allSatisfy { step, next in
            (step.value as? NSManagedObject) === next.owner
        }
    }
}

extension NSManagedObject {
    /// What an accessor answers while key paths are tried: a to-one leads to an object of its own,
    /// so that the path goes on.
    final func probed<Value>(_ key: String, _ record: AccessRecord) -> Value {
        var value = primitiveValue(forKey: key)
        if value == nil, case .toOne(let slot) = shape.slot(key),
            let destination = shape.layout.toOnes[slot].destinationEntity
        {
            value = ProbeObject.make(KnownClasses.type(of: destination), destination)
        }
        let answer: Value = typed(value, key)
        record.note(key, of: self, answer)
        return answer
    }

    /// A case of an enumeration for a key path that is tried; nil where none can be found.
    final func probedCase<Value: RawRepresentable>(
        _ key: String, _ record: AccessRecord
    ) -> Value? {
        let found: Value? = initialCase(key)
        if let found { record.note(key, of: self, found) }
        return found
    }

    /// The case of the model's default, or the first that there is; nil where none can be found.
    final func initialCase<Value: RawRepresentable>(_ key: String) -> Value? {
        let initial = entity.attributesByName[key]?.defaultValue
        var found = initial.flatMap { converted($0) as Value.RawValue? }
            .flatMap(Value.init(rawValue:))
        if found == nil, let all = Value.self as? any CaseIterable.Type { found = all.firstCase() }
        for number in 0..<256 where found == nil {
            found = (converted(number) as Value.RawValue?).flatMap(Value.init(rawValue:))
        }
        return found
    }
}

extension CaseIterable {
    /// The first case, where it is of the wanted type.
    fileprivate static func firstCase<Wanted>() -> Wanted? { allCases.first as? Wanted }
}
