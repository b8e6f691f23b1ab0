/// How one change is taken back.
struct UndoAction {
    let target: ObjectIdentifier
    let work: () -> Void
}

/// Actions that are taken back together, last first.
final class UndoGroup {
    enum Entry {
        case action(UndoAction)
        case group(UndoGroup)
    }

    var entries: [Entry] = []
    /// The action's name; empty for none.
    var title = ""
    var isDiscardable = false

    /// Whether there is nothing to take back.
    var isEmpty: Bool {
        entries.allSatisfy {
            switch $0 {
            case .action: false
            case .group(let group): group.isEmpty
            }
        }
    }

    func run() {
        for entry in entries.reversed() {
            switch entry {
            case .action(let action): action.work()
            case .group(let group): group.run()
            }
        }
    }

    func forget(_ target: ObjectIdentifier) {
        entries.removeAll { entry in
            switch entry {
            case .action(let action): return action.target == target
            case .group(let group):
                group.forget(target)
                return group.isEmpty
            }
        }
    }
}
