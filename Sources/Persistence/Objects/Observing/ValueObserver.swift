internal import Foundation

/// Who follows a value of one object, which depends on properties of it.
final class ValueObserver {
    private let keys: Set<String>
    private let options: NSKeyValueObservingOptions
    private let read: (NSManagedObject) -> Any?
    private let report: (NSManagedObject, ObservedValues) -> Void
    /// The value before a change that is being made.
    private var former: Any?

    init(
        keys: Set<String>, options: NSKeyValueObservingOptions,
        read: @escaping (NSManagedObject) -> Any?,
        report: @escaping (NSManagedObject, ObservedValues) -> Void
    ) {
        self.keys = keys
        self.options = options
        self.read = read
        self.report = report
    }

    func dependsOn(_ key: String) -> Bool { keys.contains(key) }

    /// The value, where it is asked for; nothing of a fault, which observing does not fill in.
    private func value(_ option: NSKeyValueObservingOptions, of object: NSManagedObject) -> Any? {
        options.contains(option) && !object.isFault ? read(object) : nil
    }

    func begin(on object: NSManagedObject) {
        guard options.contains(.initial) else { return }
        report(object, ObservedValues(new: value(.new, of: object)))
    }

    func willChange(_ object: NSManagedObject) {
        former = value(.old, of: object)
        if options.contains(.prior) {
            report(object, ObservedValues(old: former, isPrior: true))
        }
    }

    func didChange(_ object: NSManagedObject) {
        let values = ObservedValues(old: former, new: value(.new, of: object))
        former = nil
        report(object, values)
    }
}

/// What an observer is told of one change.
struct ObservedValues {
    var old: Any?
    var new: Any?
    var isPrior = false

    func change<Value>(of type: Value.Type) -> NSKeyValueObservedChange<Value> {
        NSKeyValueObservedChange(
            kind: .setting, newValue: new as? Value, oldValue: old as? Value, isPrior: isPrior)
    }
}

extension NSManagedObject {
    /// A property is about to change.
    final func announceChange(of key: String) {
        for observer in extras?.observers ?? [] where observer.dependsOn(key) {
            observer.willChange(self)
        }
    }

    /// A property has changed.
    final func reportChange(of key: String) {
        for observer in extras?.observers ?? [] where observer.dependsOn(key) {
            observer.didChange(self)
        }
    }

    /// Tells observers of all that `work` changes: what a refresh, a merge or a rollback brings.
    final func observing(_ work: () -> Void) {
        guard state.contains(.observed), let observers = extras?.observers else { return work() }
        for observer in observers { observer.willChange(self) }
        work()
        for observer in observers { observer.didChange(self) }
    }

    final func add(_ observer: ValueObserver) {
        withExtras { $0.observers.append(observer) }
        state.insert(.observed)
        observer.begin(on: self)
    }

    final func remove(_ observer: ValueObserver) {
        guard extras != nil else { return }
        withExtras { $0.observers.removeAll { $0 === observer } }
        if extras?.observers.isEmpty != false { state.remove(.observed) }
    }
}
