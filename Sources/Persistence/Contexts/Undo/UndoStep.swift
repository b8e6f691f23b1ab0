internal import Foundation

/// What one event of a context did, and so how it is taken back.
struct UndoStep {
    let inserted: [NSManagedObject]
    let deleted: [NSManagedObject]
    let changes: [(object: NSManagedObject, change: ObjectChange)]

    var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && changes.isEmpty }

    init(_ event: EventObjects) {
        inserted = event.inserted.objects
        // A fault whose row is gone was found so; nobody did it.
        let deleted = event.deleted.objects.filter { !$0.state.contains(.inaccessible) }
        self.deleted = deleted
        changes = (event.updated.objects + deleted).compactMap { object in
            let change = object.changeOfEvent()
            return change.isEmpty ? nil : (object, change)
        }
    }
}

/// A context's part in an undo manager.
final class ContextUndo {
    let manager: UndoManager
    private let context: ZeroingReference<NSManagedObjectContext>
    private let target: ObjectIdentifier
    private let checkpoint: any NSObjectProtocol

    init(_ manager: UndoManager, of context: NSManagedObjectContext) {
        self.manager = manager
        self.context = context.tie
        target = ObjectIdentifier(context)
        let tie = context.tie
        checkpoint = NotificationCenter.default.addObserver(
            forName: .NSUndoManagerCheckpoint, object: manager, queue: nil
        ) { _ in tie.target?.processPendingChanges() }
    }

    deinit {
        NotificationCenter.default.removeObserver(checkpoint)
        manager.forget(target)
    }

    /// Records how an event is taken back.
    func register(_ event: EventObjects) {
        guard manager.isUndoRegistrationEnabled else { return }
        let step = UndoStep(event)
        guard !step.isEmpty else { return }
        let context = context
        manager.register(for: target) { context.target?.takeBack(step) }
    }

    /// There is nothing left that could be undone.
    func forgetAll() { manager.removeAllActions() }
}
