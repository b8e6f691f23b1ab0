internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import Platform
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Makes random edits of a device's objects as an app would, with inverses kept, and remembers what
/// was saved: the memory is what the laws are checked against.
struct GraphEditor {
    let randomness: SeededRandomness
    let values: ValueGenerator
    let versions: ModelVersions
    /// The version of the device that is edited; at last the last one.
    private var version: ModelVersions.Version
    var layout: ModelLayout { version.layout }
    var catalog: PairCatalog { version.catalog }
    var counters: CounterRules { version.counters }
    private var concrete: [EntityLayout] {
        let names = weights.entities
        return names.isEmpty
            ? version.concrete : version.concrete.filter { names.contains($0.name) }
    }
    let weights: EditWeights
    var memory = EditMemory()
    var deletions: DeletionMemory
    /// How often a save is taken back.
    var rollbackPercent = 0
    var counts = Counts()
    /// The device that is edited may not see what is sealed.
    var hidesSealed = false
    /// The next text that is drawn is longer than this.
    var bytesOfNextText: Int?

    struct Counts {
        /// Saves that were taken back.
        var takenBack = 0
        /// Deletions that were undone.
        var undone = 0
        /// Deletions that took what hung on an object.
        var cascades = 0
    }

    init(
        randomness: SeededRandomness, model: NSManagedObjectModel,
        later: NSManagedObjectModel? = nil, policy: MergePolicy = MergePolicy(),
        weights: EditWeights = EditWeights(),
        undoDice: SeededRandomness = SeededRandomness(seed: 0),
        cascadeDice: SeededRandomness = SeededRandomness(seed: 0)
    ) {
        deletions = DeletionMemory(dice: undoDice, cascadeDice: cascadeDice)
        self.randomness = randomness
        self.weights = weights
        values = ValueGenerator(randomness: randomness, keysCount: weights.keysCount)
        versions = ModelVersions(model, later: later, policy)
        version = versions.last
    }

    /// Turns to the version of the model that a device has.
    mutating func turn(to device: SimulatedDevice) {
        version = device.isLater ? versions.last : versions.first
    }

    /// Turns to the version that all devices have in the end.
    mutating func turnToLast() { version = versions.last }

    /// Makes one edit on `device`. Returns what was done in words; nil when there was nothing to
    /// do.
    mutating func edit(_ device: SimulatedDevice) throws -> String? {
        turn(to: device)
        defer { turnToLast() }
        do {
            if weights.deletions.undoPercent > 0,
                deletions.dice.chance(percent: weights.deletions.undoPercent),
                let line = try undoDeletion(on: device)
            {
                counts.undone += 1
                return line
            }
            return try drawEdit(on: device)
        } catch is UniquenessViolation {
            return nil
        } catch is EditTakenBack {
            counts.takenBack += 1
            return "takes an edit back"
        }
    }

    private mutating func drawEdit(on device: SimulatedDevice) throws -> String? {
        var die = randomness.below(weights.sum)
        func falls(_ share: Int) -> Bool {
            die -= share
            return die < 0
        }
        if falls(weights.insert) { return try insert(concrete, on: device) }
        if falls(weights.change) { return try change(on: device) }
        if falls(weights.count) { return try count(on: device) }
        if falls(weights.relink) { return try relink(on: device) }
        if falls(weights.pair) { return try pair(on: device) }
        if falls(weights.delete) { return try delete(on: device) }
        if falls(weights.move) { return try move(on: device) }
        return try insert(concrete.filter(\.isKeyed), on: device)
    }

    // MARK: Picking

    func anyRow(
        on device: SimulatedDevice, where isFit: (EntityLayout) -> Bool = { _ in true }
    ) throws -> Row? {
        guard let entity = randomness.pick(concrete.filter(isFit)) else { return nil }
        return try anyRow(of: entity, on: device)
    }

    func anyRow(of entity: EntityLayout, on device: SimulatedDevice) throws -> Row? {
        var ids = try device.store.ids(matching: RowQuery(entity: entity.number)).sorted()
        if weights.focus > 0 { ids = Array(ids.prefix(weights.focus)) }
        return try randomness.pick(ids).flatMap { try device.store.row($0) }
    }

    func destination(of relationship: NSRelationshipDescription) -> EntityLayout? {
        relationship.destinationEntity?.name.flatMap { layout.entity(named: $0) }
    }

    // MARK: Saving

    func save(_ update: RowUpdate, on device: SimulatedDevice) throws -> String {
        try edit(update.id, on: device) { _ in
            var changes = ChangeSet()
            changes.updates = [update]
            return changes
        }
    }

    /// Saves an edit of one row and returns the row's record name. A kill undoes both, so that the
    /// memory never lacks what was saved.
    func edit(
        _ row: RowID, on device: SimulatedDevice, _ body: (StoreTransaction) throws -> ChangeSet
    ) throws -> String {
        var name = ""
        try device.edit(takesBack: randomness.chance(percent: rollbackPercent)) { store in
            name = try device.recordName(of: row, in: store)
            return try body(store)
        }
        return name
    }

    /// The device's time now, for an edit that was just saved.
    func time(on device: SimulatedDevice) throws -> WriteTime {
        let now = device.platform.clock.now().timeIntervalSince1970 * 1_000
        let milliseconds = Int64(now.rounded(.down))
        return try device.store.read { store in
            let ledger = device.ledger(in: store)
            let seen = try ledger.setting(.editClock)?.int64 ?? 0
            // What was saved before the first round has no time.
            let isTimed = try ledger.historyToken() != nil
            return WriteTime(
                milliseconds: milliseconds, isByClock: isTimed && seen < milliseconds - 1_000)
        }
    }
}

extension EntityLayout {
    /// Whether objects of this entity have unique keys, and may become one with others.
    var isKeyed: Bool {
        var entity: NSEntityDescription? = self.entity
        while let current = entity {
            if !current.uniquenessConstraints.isEmpty { return true }
            entity = current.superentity
        }
        return false
    }
}
