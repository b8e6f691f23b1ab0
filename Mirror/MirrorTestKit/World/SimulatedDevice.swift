internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import Platform
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// One device of a simulated world: a real store in a file, its mirror, and a round that is
/// performed one instruction at a time, so that anything may happen between two of them.
final class SimulatedDevice {
    let name: String
    let platform: Environment
    private let settings: WorldSettings
    private let file: URL
    private(set) var mirrored: MirroredStore
    private var performer: InstructionPerformer
    private var machine: MirrorMachine?
    /// What the machine wants next; nil while no round runs.
    private(set) var instruction: MirrorMachine.Instruction?
    private(set) var lastResult: RoundResult?
    var requests = 0

    var store: SQLiteRowStore { mirrored.store }

    init(name: String, file: URL, settings: WorldSettings, platform: Environment) throws {
        self.name = name
        self.file = file
        self.settings = settings
        self.platform = platform
        mirrored = try Self.open(file, settings, platform)
        performer = InstructionPerformer(mirrored: mirrored, container: SimulatedService.container)
        _ = try mirrored.prepare(container: SimulatedService.container)
    }

    private static func open(
        _ file: URL, _ settings: WorldSettings, _ platform: Environment
    ) throws -> MirroredStore {
        var options = SQLiteStoreOptions()
        options.synchronous = .off
        let store = try SQLiteRowStore(
            url: file, model: settings.model, options: options, platform: platform)
        return try MirroredStore(store: store, policy: settings.policy, platform: platform)
    }

    /// The process dies and starts again: what was in memory is gone, the file is as the last
    /// commit left it.
    func restart() throws {
        machine = nil
        instruction = nil
        mirrored = try Self.open(file, settings, platform)
        performer = InstructionPerformer(mirrored: mirrored, container: SimulatedService.container)
    }

    // MARK: Rounds

    func startRound() {
        var machine = MirrorMachine(zoneName: mirrored.settings.zoneName, limits: settings.limits)
        instruction = machine.handle(.start)
        self.machine = machine
    }

    /// Performs the next instruction if it concerns the store. Returns the request to carry when it
    /// does not.
    func step() throws -> RecordRequest? {
        guard let instruction else { return nil }
        switch instruction {
        case .send(let request): return request
        case .wait: handle(.woke)
        case .finish(let result):
            lastResult = result
            machine = nil
            self.instruction = nil
        default:
            if let event = try performer.perform(instruction) { handle(event) }
        }
        return nil
    }

    /// Tells the machine what happened.
    func handle(_ event: MirrorMachine.Event) {
        instruction = machine?.handle(event)
    }

    // MARK: Edits

    /// Saves what `body` makes of the store, as an app would.
    func edit(_ body: (StoreTransaction) throws -> ChangeSet) throws {
        try store.write { transaction in
            var changes = try body(transaction)
            guard !changes.isEmpty else { return }
            changes.author = "app"
            _ = try transaction.apply(changes)
        }
    }

    /// The record name of a row, made up now when it has none.
    func recordName(of row: RowID) throws -> String {
        try store.write { try recordName(of: row, in: $0) }
    }

    /// The same within an edit, so that either both happen or neither.
    func recordName(of row: RowID, in transaction: StoreTransaction) throws -> String {
        try Ledger(connection: transaction.connection, platform: platform).recordName(for: row)
    }
}
