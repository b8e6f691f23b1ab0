internal import Foundation
internal import Stores

/// One state of a coordinator's stores, held for reading as long as a context or token refers to
/// it.
final class QueryGeneration: Sendable {
    /// How a store stands in the generation.
    private enum Part {
        case held(any RowSnapshot)
        /// The store keeps no states, and is read as it is.
        case present
    }

    /// By the addresses of the stores' ties, which are kept so that no other gets one of them.
    private let parts: [ObjectIdentifier: Part]
    private let stores: [ZeroingReference<NSPersistentStore>]
    private let coordinator: ZeroingReference<NSPersistentStoreCoordinator>

    /// The present state of each store. Throws the stores' failures.
    init(of coordinator: NSPersistentStoreCoordinator) throws {
        self.coordinator = coordinator.tie
        var parts: [ObjectIdentifier: Part] = [:]
        let present = coordinator.persistentStores
        stores = present.map(\.tie)
        for store in present {
            let snapshot = try coordinator.translating { try store.rowStore.makeSnapshot() }
            parts[ObjectIdentifier(store.tie)] = snapshot.map { .held($0) } ?? .present
        }
        self.parts = parts
    }

    private var snapshots: [any RowSnapshot] {
        parts.values.compactMap { part in
            if case .held(let snapshot) = part { snapshot } else { nil }
        }
    }

    /// Whether any store holds a state.
    var isHeld: Bool { !snapshots.isEmpty }

    /// Whether a store let go of its state.
    var isOver: Bool { snapshots.contains(where: \.isOver) }

    func isOf(_ coordinator: NSPersistentStoreCoordinator) -> Bool {
        self.coordinator === coordinator.tie
    }

    /// Whether the store was there when the generation was made.
    func includes(_ store: NSPersistentStore) -> Bool { parts[ObjectIdentifier(store.tie)] != nil }

    /// What reads a store in this generation. Throws for one that came later.
    func reader(of store: NSPersistentStore) throws -> any RowReading {
        switch parts[ObjectIdentifier(store.tie)] {
        case .held(let snapshot): return snapshot
        case .present: return store.rowStore
        case nil: throw PersistenceErrors.notInGeneration
        }
    }

    /// Whether both hold the same states.
    func isSame(as other: QueryGeneration) -> Bool {
        guard self !== other else { return true }
        guard isHeld, coordinator === other.coordinator, parts.count == other.parts.count else {
            return false
        }
        return parts.allSatisfy { key, part in
            switch (part, other.parts[key]) {
            case (.held(let one), .held(let two)): one === two
            case (.present, .present): true
            default: false
            }
        }
    }
}
