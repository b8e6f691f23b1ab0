import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import Platform
import RecordWire
import SQLiteDriver
import SQLiteStore
import Stores

/// A device in memory whose rounds are run against a service in this process, request by request.
final class Device {
    let store: SQLiteRowStore
    let mirrored: MirroredStore
    var service: SimulatedService
    let clock = VirtualClock()
    private var performer: InstructionPerformer
    /// Answers a request instead of the service, where a test wants it to.
    var intercept: (RecordRequest) throws -> RecordResponse? = { _ in nil }
    private(set) var requests: [RecordRequest] = []
    /// Fails an upload or a download, where a test wants it to.
    var interceptUpload: (AssetUpload) throws -> Void = { _ in }
    var interceptDownload: (AssetDownload) throws -> Void = { _ in }
    private(set) var uploads: [String] = []
    private(set) var downloads = 0

    init(
        _ seed: UInt64, _ service: SimulatedService,
        model: NSManagedObjectModel = SampleModel.make(),
        policy: MergePolicy = MergePolicy(), file: URL? = nil, keys: SealingKeys? = nil,
        assetsAbove bytes: Int? = nil, configuration: String? = nil,
        selecting: SelectionSource = .remembered,
        adjust: (inout MirrorSettings) -> Void = { _ in }
    ) throws {
        let platform = Environment(
            clock: clock, randomness: SeededRandomness(seed: seed), faults: NoFaults())
        store = try SQLiteRowStore(
            url: file, model: model, configuration: configuration, platform: platform)
        mirrored = try MirroredStore(
            store: store, policy: policy, keys: keys, platform: platform, selecting: selecting
        ) { settings in
            if let bytes { settings.sizes.valueBytesMax = bytes }
            adjust(&settings)
        }
        performer = InstructionPerformer(
            mirrored: mirrored, container: "test", dialect: service.dialect)
        if bytes != nil { performer.assets = service.assetSupport }
        self.service = service
    }

    /// Nothing that the device sends is its user's to change, or whatever else is said of it.
    func refuseAll(
        _ code: RecordError.Code = .accessDenied, _ reason: String = "The record is another user's."
    ) {
        intercept = { request in
            guard case .modifyRecords(let modify) = request else { return nil }
            let refusals = modify.operations.map {
                RecordResult.failure(
                    RecordError(code, reason, recordName: $0.record.recordName))
            }
            return .records(RecordsReply(results: refusals))
        }
    }

    /// How many requests it sent that change records.
    var sendings: Int { requests.count { if case .modifyRecords = $0 { true } else { false } } }

    /// More batches than a round sends that expects nothing.
    static let manyBatches = RoundLimits().batchesMin + 10

    static func service(_ dialect: ServiceDialect = .extended) throws -> SimulatedService {
        try SimulatedService(
            platform: Environment(
                clock: VirtualClock(), randomness: SeededRandomness(seed: 77), faults: NoFaults()),
            dialect: dialect)
    }

    /// Runs one round to its end, without waiting where the machine would.
    @discardableResult
    func sync() throws -> RoundResult {
        var machine = MirrorMachine(
            zoneID: mirrored.settings.zoneID, dialect: performer.dialect)
        var instruction = machine.handle(.start)
        while true {
            switch instruction {
            case .finish(let result):
                try mirrored.noteRound(error: result.error?.message, retryAt: nil)
                return result
            case .wait: instruction = machine.handle(.woke)
            case .send(let request): instruction = machine.handle(answer(request))
            case .upload(let upload, let address):
                instruction = machine.handle(try send(upload, to: address))
            case .download(let download): instruction = machine.handle(fetch(download))
            default:
                guard let event = try performer.perform(instruction) else { return machine.result }
                instruction = machine.handle(event)
            }
        }
    }

    /// The first batch of a store that was never synced.
    func firstBatch() throws -> ExportBatch {
        _ = try mirrored.prepare(container: "test")
        while try mirrored.analyse().moreWaiting {}
        return try mirrored.nextBatch()
    }

    private func answer(_ request: RecordRequest) -> MirrorMachine.Event {
        requests.append(request)
        do {
            if let response = try intercept(request) { return .replied(response) }
            return .replied(try service.handle(request, from: try mirrored.deviceID()))
        } catch {
            return .failed(MirrorFailure(error))
        }
    }

    private func send(_ upload: AssetUpload, to address: String) throws -> MirrorMachine.Event {
        do {
            try interceptUpload(upload)
            guard let bytes = try mirrored.bytes(of: upload) else { return .outdated }
            uploads.append(upload.fieldName)
            return .uploaded(try service.upload(bytes, to: address))
        } catch {
            return .failed(MirrorFailure(error))
        }
    }

    private func fetch(_ download: AssetDownload) -> MirrorMachine.Event {
        do {
            downloads += 1
            try interceptDownload(download)
            try service.content(of: download.asset).write(to: download.file)
            return .downloaded
        } catch {
            return .failed(MirrorFailure(error))
        }
    }

    // MARK: Objects

    @discardableResult
    func insert(_ entity: String, _ values: [String: AttributeValue] = [:]) throws -> RowID {
        let layout = try layout(entity)
        let key = try store.reserveKeys(entity: layout.number, count: 1)[0]
        var row = Row(id: RowID(entity: layout.number, key: key), layout: layout)
        for (name, value) in values {
            guard let slot = layout.attributeSlot(name) else { throw Missing(name: name) }
            row.attributes[slot] = value
        }
        var changes = ChangeSet()
        changes.inserts = [row]
        _ = try store.save(changes)
        return row.id
    }

    func set(_ row: RowID, _ name: String, _ value: AttributeValue) throws {
        var update = RowUpdate(id: row)
        guard let slot = store.layout.entity(row.entity)?.attributeSlot(name) else {
            throw Missing(name: name)
        }
        update.attributes = [(slot, value)]
        try save([update])
    }

    func link(_ row: RowID, _ name: String, _ target: RowID?, order: Int64? = nil) throws {
        var update = RowUpdate(id: row)
        guard let slot = store.layout.entity(row.entity)?.toOneSlot(name) else {
            throw Missing(name: name)
        }
        update.toOnes = [(slot, target.map { Link($0, orderKey: order) })]
        try save([update])
    }

    func pair(_ row: RowID, _ name: String, with other: RowID, adding: Bool = true) throws {
        guard let slot = store.layout.entity(row.entity)?.toManySlot(name) else {
            throw Missing(name: name)
        }
        var changes = ChangeSet()
        var change = ToManyChange(owner: row, slot: slot)
        if adding { change.added = [Link(other)] } else { change.removed = [other] }
        var mark = RowUpdate(id: row)
        mark.changedToManys = [slot]
        changes.updates = [mark]
        changes.toManys = [change]
        _ = try store.save(changes)
    }

    /// Moves the members of an ordered relationship, as a context saves it.
    func reorder(_ row: RowID, _ name: String, _ members: [RowID]) throws {
        guard let slot = store.layout.entity(row.entity)?.toManySlot(name) else {
            throw Missing(name: name)
        }
        var changes = ChangeSet()
        var change = ToManyChange(owner: row, slot: slot)
        change.order = members
        var mark = RowUpdate(id: row)
        mark.changedToManys = [slot]
        changes.updates = [mark]
        changes.toManys = [change]
        _ = try store.save(changes)
    }

    func delete(_ row: RowID) throws {
        var changes = ChangeSet()
        changes.deletes = [RowDelete(id: row)]
        _ = try store.save(changes)
    }

    private func save(_ updates: [RowUpdate]) throws {
        var changes = ChangeSet()
        changes.updates = updates
        _ = try store.save(changes)
    }

    // MARK: Facts

    func layout(_ entity: String) throws -> EntityLayout {
        guard let layout = store.layout.entity(named: entity) else { throw Missing(name: entity) }
        return layout
    }

    /// The rows of exactly this entity, by key.
    func rows(_ entity: String) throws -> [Row] {
        var query = RowQuery(entity: try layout(entity).number)
        query.includesSubentities = false
        return try store.rows(matching: query).sorted { $0.id < $1.id }
    }

    /// Empties the history as a program does that knows nothing of its readers.
    func loseHistory() throws {
        try store.write { transaction in
            try transaction.connection.run("DELETE FROM ACHANGE")
            try transaction.connection.run("DELETE FROM ATRANSACTION")
        }
    }

    func only(_ entity: String) throws -> RowID {
        guard let row = try rows(entity).first else { throw Missing(name: entity) }
        return row.id
    }

    func value(_ row: RowID, _ name: String) throws -> AttributeValue? {
        guard let slot = store.layout.entity(row.entity)?.attributeSlot(name) else {
            throw Missing(name: name)
        }
        return try store.row(row)?.attributes[slot]
    }

    func target(_ row: RowID, _ name: String) throws -> RowID? {
        guard let slot = store.layout.entity(row.entity)?.toOneSlot(name) else {
            throw Missing(name: name)
        }
        return try store.row(row)?.toOnes[slot]?.target
    }

    func members(_ row: RowID, _ name: String) throws -> [RowID] {
        guard let slot = store.layout.entity(row.entity)?.toManySlot(name) else {
            throw Missing(name: name)
        }
        return try store.members(of: row, toMany: slot).map(\.target)
    }
}

struct Missing: Error {
    let name: String
}
