internal import Dispatch
public import Foundation

// Groups, and what is said of them.
extension UndoManager {
    // MARK: Groups

    /// How many groups are open.
    public final var groupingLevel: Int { open.count }

    /// Opens a group within those that are open. Posts `NSUndoManagerCheckpoint` unless it is the
    /// outermost, and `NSUndoManagerDidOpenUndoGroup`.
    public final func beginUndoGrouping() {
        if open.isEmpty && groupsByEvent && !isUndoing && !isRedoing {
            openEvent()
        }
        openGroup()
    }

    private func openGroup() {
        if !open.isEmpty { post(.NSUndoManagerCheckpoint) }
        open.append(UndoGroup())
        post(.NSUndoManagerDidOpenUndoGroup)
    }

    /// Closes the innermost group. Traps where none is open.
    public final func endUndoGrouping() {
        guard !open.isEmpty else { ProgrammingMistake.unbalancedUndoGroup() }
        post(.NSUndoManagerCheckpoint)
        guard let group = open.last else { return }
        let isDiscardable = [NSUndoManagerGroupIsDiscardableKey: group.isDiscardable]
        post(.NSUndoManagerWillCloseUndoGroup, isDiscardable)
        open.removeLast()
        if let outer = open.last {
            outer.entries.append(.group(group))
            if outer.title.isEmpty { outer.title = group.title }
            if group.isDiscardable && outer.entries.count == 1 { outer.isDiscardable = true }
        } else {
            let wasEvent = isEventOpen
            isEventOpen = false
            if !wasEvent || !group.isEmpty { undoStack.append(group) }
            trim()
        }
        post(.NSUndoManagerDidCloseUndoGroup, isDiscardable)
    }

    /// Opens the group of the present event, and sees to its end.
    final func openEvent() {
        openGroup()
        isEventOpen = true
        guard ContextQueue.isOnMain else { return }
        DispatchQueue.main.async { [weak self] in self?.endEvent() }
    }

    /// The event is over. Groups that the program left open stay so.
    final func endEvent() {
        if isEventOpen && open.count == 1 { endUndoGrouping() }
    }

    // MARK: Names

    /// The name of what `undo()` takes back; empty where it has none.
    public final var undoActionName: String { (open.first ?? undoStack.last)?.title ?? "" }

    /// The name of what `redo()` does again; empty where it has none.
    public final var redoActionName: String { redoStack.last?.title ?? "" }

    /// Names the present group, or the last one where none is open.
    public final func setActionName(_ actionName: String) {
        (open.last ?? undoStack.last)?.title = actionName
    }

    /// "Undo" with the name of what it takes back.
    public final var undoMenuItemTitle: String {
        undoMenuTitle(forUndoActionName: undoActionName)
    }

    /// "Redo" with the name of what it does again.
    public final var redoMenuItemTitle: String {
        redoMenuTitle(forUndoActionName: redoActionName)
    }

    /// The title of a menu's item for a name. English, unlike Apple's.
    public final func undoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Undo" : "Undo \(actionName)"
    }

    /// The title of a menu's item for a name. English, unlike Apple's.
    public final func redoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Redo" : "Redo \(actionName)"
    }

    // MARK: What may be thrown away

    /// Says whether the present group may be thrown away when a document is saved elsewhere.
    public final func setActionIsDiscardable(_ discardable: Bool) {
        (open.last ?? undoStack.last)?.isDiscardable = discardable
    }

    /// Whether what `undo()` takes back may be thrown away.
    public final var undoActionIsDiscardable: Bool { undoStack.last?.isDiscardable ?? false }

    /// Whether what `redo()` does again may be thrown away.
    public final var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }
}

/// Whether the group of a notification may be thrown away: a `Bool`.
public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"

extension NSNotification.Name {
    /// Posted when groups are opened or closed, so that changes are registered that were not yet.
    public static let NSUndoManagerCheckpoint = NSNotification.Name(
        "NSUndoManagerCheckpointNotification")
    /// Posted before an undo.
    public static let NSUndoManagerWillUndoChange = NSNotification.Name(
        "NSUndoManagerWillUndoChangeNotification")
    /// Posted before a redo.
    public static let NSUndoManagerWillRedoChange = NSNotification.Name(
        "NSUndoManagerWillRedoChangeNotification")
    /// Posted after an undo.
    public static let NSUndoManagerDidUndoChange = NSNotification.Name(
        "NSUndoManagerDidUndoChangeNotification")
    /// Posted after a redo.
    public static let NSUndoManagerDidRedoChange = NSNotification.Name(
        "NSUndoManagerDidRedoChangeNotification")
    /// Posted after a group was opened.
    public static let NSUndoManagerDidOpenUndoGroup = NSNotification.Name(
        "NSUndoManagerDidOpenUndoGroupNotification")
    /// Posted before a group is closed.
    public static let NSUndoManagerWillCloseUndoGroup = NSNotification.Name(
        "NSUndoManagerWillCloseUndoGroupNotification")
    /// Posted after a group was closed.
    public static let NSUndoManagerDidCloseUndoGroup = NSNotification.Name(
        "NSUndoManagerDidCloseUndoGroupNotification")
}
