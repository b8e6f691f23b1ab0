public import Foundation

/// Records how changes are taken back, in groups. Foundation has none off Apple's platforms; this
/// is the one that `NSManagedObjectContext.undoManager` takes. Source: Apple, UndoManager.
///
/// Queue: one, that of its contexts. With `groupsByEvent`, actions that are registered outside of a
/// group open one, which the end of the event closes: on the main thread the main queue's next
/// turn, in a context's `perform` its end; `undo()` closes it, too. Differences from Apple's: no
/// selectors and invocations, titles in English, no isolation to the main actor.
open class UndoManager: NSObject, @unchecked Sendable {
    // @unchecked: used on one queue only.

    /// Groups that are open, outermost first.
    final var open: [UndoGroup] = []
    final var undoStack: [UndoGroup] = []
    final var redoStack: [UndoGroup] = []
    /// Whether the outermost group was opened for an event.
    final var isEventOpen = false
    private final var disablings = 0

    /// Makes a manager that records, and groups by event.
    public override init() { super.init() }

    // MARK: Settings

    /// Whether actions outside of a group open one for the present event. True at first.
    open var groupsByEvent = true

    /// How many groups can be undone; 0 for any number. Older ones are dropped.
    open var levelsOfUndo = 0 {
        didSet { trim() }
    }

    /// Kept for old sources: events end as the class says, in any mode of a run loop.
    open var runLoopModes: [RunLoop.Mode] = [.default]

    // MARK: Registering

    /// Whether actions are recorded.
    open var isUndoRegistrationEnabled: Bool { disablings == 0 }

    /// Lets actions pass without recording them, until `enableUndoRegistration()` was called as
    /// often.
    open func disableUndoRegistration() { disablings += 1 }

    /// Takes one `disableUndoRegistration()` back. Traps where there was none.
    open func enableUndoRegistration() {
        guard disablings > 0 else { ProgrammingMistake.unbalancedUndoRegistration() }
        disablings -= 1
    }

    /// Records `handler` as what takes a change of `target` back, in the innermost open group. What
    /// it registers itself is the way forth again.
    ///
    /// The target is not kept; an action whose target has ended does nothing. Traps outside of a
    /// group where `groupsByEvent` is false.
    public final func registerUndo<TargetType: AnyObject>(
        withTarget target: TargetType, handler: @escaping (TargetType) -> Void
    ) {
        register(for: ObjectIdentifier(target)) { [weak target] in target.map(handler) }
    }

    final func register(for target: ObjectIdentifier, _ work: @escaping () -> Void) {
        guard isUndoRegistrationEnabled else { return }
        if open.isEmpty {
            guard groupsByEvent else { ProgrammingMistake.noUndoGroup() }
            openEvent()
        }
        open.last?.entries.append(.action(UndoAction(target: target, work: work)))
        if !isUndoing && !isRedoing { redoStack = [] }
    }

    // MARK: What can be done

    /// Whether `undo()` has anything to do.
    open var canUndo: Bool { !undoStack.isEmpty || open.contains { !$0.isEmpty } }

    /// Whether `redo()` has anything to do. Posts `NSUndoManagerCheckpoint`.
    open var canRedo: Bool {
        post(.NSUndoManagerCheckpoint)
        return !redoStack.isEmpty
    }

    /// How many groups can be undone.
    open var undoCount: Int { undoStack.count }
    /// How many groups can be redone.
    open var redoCount: Int { redoStack.count }
    /// Whether `undo()` is running.
    public internal(set) final var isUndoing = false
    /// Whether `redo()` is running.
    public internal(set) final var isRedoing = false

    // MARK: Undoing

    /// Closes the event's group, and takes the last group back. Traps while nested groups are open.
    open func undo() {
        if open.count == 1 { endUndoGrouping() }
        guard open.isEmpty || isUndoing || isRedoing else { ProgrammingMistake.nestedUndoGroups() }
        undoNestedGroup()
    }

    /// Takes the last closed group back, also one within a group that is open.
    open func undoNestedGroup() {
        guard !isUndoing, !isRedoing else { return }
        post(.NSUndoManagerCheckpoint)
        guard let group = takeLast() else { return }
        post(.NSUndoManagerWillUndoChange)
        isUndoing = true
        run(group, recordingOn: \.redoStack)
        isUndoing = false
        post(.NSUndoManagerDidUndoChange)
    }

    /// Does again what was undone last. Posts `NSUndoManagerCheckpoint` before it looks.
    open func redo() {
        guard !isUndoing, !isRedoing else { return }
        post(.NSUndoManagerCheckpoint)
        guard open.isEmpty || isEventOpen else { ProgrammingMistake.nestedUndoGroups() }
        if isEventOpen { endUndoGrouping() }
        guard let group = redoStack.popLast() else { return }
        post(.NSUndoManagerWillRedoChange)
        isRedoing = true
        run(group, recordingOn: \.undoStack)
        isRedoing = false
        post(.NSUndoManagerDidRedoChange)
    }

    private func takeLast() -> UndoGroup? {
        guard let innermost = open.last else { return undoStack.popLast() }
        guard case .group(let group) = innermost.entries.last else { return nil }
        innermost.entries.removeLast()
        return group
    }

    /// Takes a group back; what that registers becomes one group on the other stack.
    private func run(
        _ group: UndoGroup, recordingOn stack: ReferenceWritableKeyPath<UndoManager, [UndoGroup]>
    ) {
        let outer = open
        let wasEventOpen = isEventOpen
        let opposite = UndoGroup()
        opposite.title = group.title
        opposite.isDiscardable = group.isDiscardable
        open = [opposite]
        isEventOpen = false
        group.run()
        // What the program's own actions changed in a context belongs to the way forth, too.
        post(.NSUndoManagerCheckpoint)
        open = outer
        isEventOpen = wasEventOpen
        // A group in which nothing happened is a step the other way, too.
        if !opposite.isEmpty || group.isEmpty { self[keyPath: stack].append(opposite) }
        trim()
    }

    // MARK: Forgetting

    /// Forgets everything that was recorded, and closes what is open.
    open func removeAllActions() {
        let depth = open.count
        open = (0..<depth).map { _ in UndoGroup() }
        undoStack = []
        redoStack = []
    }

    /// Forgets what was recorded for one target, and groups that are empty then.
    open func removeAllActions(withTarget target: Any) {
        forget(ObjectIdentifier(target as AnyObject))
    }

    final func forget(_ target: ObjectIdentifier) {
        for group in open + undoStack + redoStack { group.forget(target) }
        undoStack.removeAll(where: \.isEmpty)
        redoStack.removeAll(where: \.isEmpty)
    }

    final func trim() {
        guard levelsOfUndo > 0 else { return }
        undoStack.removeFirst(max(undoStack.count - levelsOfUndo, 0))
        redoStack.removeFirst(max(redoStack.count - levelsOfUndo, 0))
    }

    final func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]? = nil) {
        NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    }
}
