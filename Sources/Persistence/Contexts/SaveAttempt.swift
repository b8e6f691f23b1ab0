internal import Stores

/// One attempt of a save to write to all of its stores.
///
/// Each store writes within the transaction of the one before, so that none ends before all have
/// written: what one of them refuses, the others take back. Only a failure of the disk while the
/// transactions end, one after the other, can leave some stores written and others not.
final class SaveAttempt {
    // Exclusivity is not checked at run time: one save uses it, by calls that do not nest.
    private let parts: [StorePart]
    private let context: NSManagedObjectContext
    /// What is in its store for good.
    @exclusivity(unchecked) private(set) var written: [WrittenPart] = []
    /// The store that stopped the attempt.
    @exclusivity(unchecked) private(set) var refusing: NSPersistentStore?

    struct WrittenPart {
        let store: NSPersistentStore
        let gathered: ChangeSetBuilder
        let outcome: SaveOutcome
    }

    /// `parts` are in the order in which they are to be written.
    init(_ parts: [StorePart], of context: NSManagedObjectContext) {
        self.parts = parts
        self.context = context
    }

    /// Returns what stopped it; nil where all is written.
    func run() -> (any Error)? {
        do {
            try write(parts[...])
            return nil
        } catch {
            return error
        }
    }

    private func write(_ parts: ArraySlice<StorePart>) throws {
        guard let part = parts.first else { return }
        let others = parts.dropFirst()
        do {
            let (gathered, outcome) = try part.write(
                for: context, beside: others.isEmpty ? nil : { try self.write(others) })
            written.append(
                WrittenPart(store: part.store, gathered: gathered, outcome: outcome))
        } catch {
            refusing = refusing ?? part.store
            throw error
        }
    }

    /// Takes back the rows of new objects that were not written.
    func releaseRows() {
        for part in parts where !written.contains(where: { $0.store === part.store }) {
            part.releaseRows()
        }
    }
}
