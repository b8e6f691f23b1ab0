internal import Foundation
internal import MirrorEngine
internal import Platform
internal import RecordWire
internal import SQLiteStore

/// A store of the shared database with those beside it, each for what one further owner shares; any
/// other store alone.
struct StoreFamily {
    /// The store that the call names, and the others by name.
    let members: [StoreAccess]

    /// A store of a named zone has that one alone. Throws what opening the stores throws. Cost: a
    /// look into the folder.
    init(of named: StoreAccess, _ zone: ZoneChoice) throws {
        try named.requireStore()
        var further: [StoreAccess] = []
        if zone.zone == nil {
            let files = try FurtherStoreFile.all(beside: named.url)
            if try !files.isEmpty && Self.isShared(named) {
                further = try files.map(named.beside).filter(Self.hasZone)
            }
        }
        members = [named] + further
    }

    private static func isShared(_ access: StoreAccess) throws -> Bool {
        try MirroredStore.knownDatabase(of: access.open(readOnly: true)) == .shared
    }

    /// One whose zone is shared no more stays, with its log, and has no part in rounds.
    private static func hasZone(_ access: StoreAccess) throws -> Bool {
        try MirroredStore.knownZone(of: access.open(readOnly: true), .system)?
            .ownerRecordName != nil
    }

    /// The stores beside the named one.
    var further: [StoreAccess] { Array(members.dropFirst()) }

    /// Does a work on each store, also after one on which it failed. Returns the first exit status
    /// that is not 0. Throws the first failure; the others are told.
    func each(
        _ console: Console, _ work: (StoreAccess) async throws -> ExitStatus
    ) async throws -> ExitStatus {
        guard !further.isEmpty else { return try await work(members[0]) }
        var status = ExitStatus.done
        var failure: CommandError?
        for member in members {
            do {
                let own = try await work(member)
                if status == .done { status = own }
            } catch {
                guard !Task.isCancelled else { throw error }
                var told = CommandFailure.describe(error)
                told.message = "\(member.name): \(told.message)"
                if failure == nil { failure = told } else { console.warn(told.message) }
            }
        }
        if let failure { throw failure }
        return status
    }

    /// The store into which the objects of a zone come: the named one where it has that zone, or
    /// none yet; else the one beside it that is the zone's. That need not be there.
    static func place(
        of zone: ZoneID, for named: StoreAccess, bound: ZoneID?, _ choice: ZoneChoice
    ) throws -> StoreAccess {
        let beside = named.beside(FurtherStoreFile.place(of: zone, beside: origin(of: named.url)))
        if bound == zone { return named }
        if choice.zone == nil, FileKind(of: beside.url) != .absent { return beside }
        guard bound != nil else { return named }
        guard choice.zone == nil else {
            throw CommandError(
                "zoneBusy", "--zone names the store's zone, and the invitation is to another.",
                hint: "Leave --zone out: the objects come into a store beside this one then.")
        }
        return beside
    }

    /// The store beside which others are put: one of these leads to the first.
    private static func origin(of url: URL) -> URL {
        guard let first = FurtherStoreFile.first(of: url), FileKind(of: first) != .absent else {
            return url
        }
        return first
    }
}
