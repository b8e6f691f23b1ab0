import CoreData
import Foundation
import Testing

/// The manager by itself: groups, names, levels, notifications.
@Suite struct UndoManagerTests {
    /// A number that can be set back.
    private final class Counter {
        let manager: UndoManager
        private(set) var value = 0

        init(_ manager: UndoManager) { self.manager = manager }

        func set(_ new: Int) {
            let old = value
            manager.registerUndo(withTarget: self) { $0.set(old) }
            value = new
        }
    }

    @Test func anEventIsOneGroup() {
        let manager = UndoManager()
        let counter = Counter(manager)
        #expect(!manager.canUndo && !manager.canRedo && manager.groupingLevel == 0)
        counter.set(1)
        counter.set(2)
        #expect(manager.groupingLevel == 1 && manager.canUndo)
        manager.undo()
        #expect(counter.value == 0 && manager.groupingLevel == 0)
        #expect(!manager.canUndo && manager.canRedo)
        manager.redo()
        #expect(counter.value == 2 && manager.canUndo && !manager.canRedo)
        manager.undo()
        counter.set(9)
        #expect(!manager.canRedo)
        manager.undo()
        manager.undo()
        #expect(counter.value == 0)
    }

    @Test func groupsNest() {
        let manager = UndoManager()
        manager.groupsByEvent = false
        let counter = Counter(manager)
        manager.beginUndoGrouping()
        counter.set(1)
        manager.beginUndoGrouping()
        counter.set(2)
        counter.set(3)
        #expect(manager.groupingLevel == 2)
        manager.endUndoGrouping()
        manager.undoNestedGroup()
        #expect(counter.value == 1 && manager.canRedo)
        counter.set(4)
        manager.endUndoGrouping()
        #expect(manager.undoCount == 1)
        manager.undo()
        #expect(counter.value == 0)
        manager.redo()
        #expect(counter.value == 4)
    }

    @Test func namesFollowTheirGroups() {
        let manager = UndoManager()
        manager.groupsByEvent = false
        let counter = Counter(manager)
        #expect(manager.undoMenuItemTitle == "Undo" && manager.undoActionName.isEmpty)
        for (number, name) in [(1, "One"), (2, "Two")] {
            manager.beginUndoGrouping()
            counter.set(number)
            manager.setActionName(name)
            manager.setActionIsDiscardable(number == 1)
            manager.endUndoGrouping()
        }
        #expect(manager.undoActionName == "Two" && manager.undoMenuItemTitle == "Undo Two")
        #expect(!manager.undoActionIsDiscardable)
        manager.undo()
        #expect(manager.undoActionName == "One" && manager.redoMenuItemTitle == "Redo Two")
        #expect(manager.undoActionIsDiscardable && manager.redoActionName == "Two")
        #expect(!manager.redoActionIsDiscardable)
    }

    @Test func levelsAreBounded() {
        let manager = UndoManager()
        manager.groupsByEvent = false
        let counter = Counter(manager)
        func add() {
            manager.beginUndoGrouping()
            counter.set(counter.value + 1)
            manager.endUndoGrouping()
        }
        for _ in 0..<5 { add() }
        manager.levelsOfUndo = 3
        #expect(manager.undoCount == 3)
        add()
        #expect(manager.undoCount == 3)
        for _ in 0..<9 { manager.undo() }
        #expect(counter.value == 3 && manager.redoCount == 3)
    }

    /// A group in which nothing happened is a step like others: both ways it takes one turn.
    @Test func anEmptyGroupIsAStepBothWays() {
        let manager = UndoManager()
        manager.groupsByEvent = false
        let counter = Counter(manager)
        let steps: [(number: Int?, name: String)] = [(1, "One"), (nil, "Empty"), (2, "Two")]
        for step in steps {
            manager.beginUndoGrouping()
            manager.setActionName(step.name)
            if let number = step.number { counter.set(number) }
            manager.endUndoGrouping()
        }
        for _ in 0..<2 {
            var seen: [Int] = []
            while manager.canUndo {
                manager.undo()
                seen.append(counter.value)
            }
            #expect(seen == [1, 1, 0] && manager.redoCount == 3)
            manager.redo()
            #expect(counter.value == 1 && manager.redoActionName == "Empty")
            manager.redo()
            manager.redo()
            #expect(counter.value == 2 && manager.undoCount == 3 && !manager.canRedo)
        }
    }

    @Test func targetsCanBeForgotten() {
        let manager = UndoManager()
        let (first, second) = (Counter(manager), Counter(manager))
        first.set(1)
        second.set(1)
        manager.removeAllActions(withTarget: first)
        manager.undo()
        #expect(first.value == 1 && second.value == 0)
        manager.removeAllActions()
        #expect(!manager.canUndo && !manager.canRedo)
        do {
            let gone = Counter(manager)
            gone.set(1)
        }
        manager.undo()
        #expect(!manager.canRedo)
    }

    @Test func everythingIsAnnounced() {
        let manager = UndoManager()
        let counter = Counter(manager)
        nonisolated(unsafe) var seen: [String] = []
        let names: [Notification.Name] = [
            .NSUndoManagerCheckpoint, .NSUndoManagerDidOpenUndoGroup,
            .NSUndoManagerWillCloseUndoGroup, .NSUndoManagerDidCloseUndoGroup,
            .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange,
            .NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange,
        ]
        let tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) {
                let text = $0.name.rawValue.dropFirst("NSUndoManager".count)
                seen.append(String(text.dropLast("Notification".count)))
            }
        }
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        counter.set(1)
        #expect(seen == ["DidOpenUndoGroup"])
        seen = []
        manager.undo()
        #expect(
            seen == [
                "Checkpoint", "WillCloseUndoGroup", "DidCloseUndoGroup", "Checkpoint",
                "WillUndoChange", "Checkpoint", "DidUndoChange",
            ])
        seen = []
        manager.redo()
        #expect(seen == ["Checkpoint", "WillRedoChange", "Checkpoint", "DidRedoChange"])
    }

    @Test func registrationCanBeOff() {
        let manager = UndoManager()
        let counter = Counter(manager)
        manager.disableUndoRegistration()
        manager.disableUndoRegistration()
        counter.set(1)
        manager.enableUndoRegistration()
        #expect(!manager.isUndoRegistrationEnabled && !manager.canUndo)
        manager.enableUndoRegistration()
        counter.set(2)
        manager.undo()
        #expect(counter.value == 1)
    }
}
