internal import Foundation
internal import MirrorEngine
internal import Platform
internal import RecordWire

/// `diptych status`: how a store stands towards its service, from what the store itself knows.
struct StatusVerb: Verb {
    static let manual = Manual(
        name: "status", summary: "Tells whether a store is in sync, and if not, why.",
        operands: ["STORE"], options: [.model] + ZoneChoice.options,
        notes: [
            HelpText.wrapped(
                "It asks the store, not the service: what others saved since the last round is not "
                    + "known here. 'device' is the name by which the service and the conflict "
                    + "logs of others know this store. Exit status, as of a round: 0: in sync. "
                    + "3: conflicts wait. 1: anything else. With --quiet it is the whole answer.")
        ],
        examples: [("diptych status Library.sqlite", "after a round, or when one failed")])

    private let access: StoreAccess
    private let zone: ZoneChoice
    private let invocation: Invocation

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        zone = try ZoneChoice(ofStoreBy: arguments)
        invocation = arguments.invocation
    }

    func run(_ console: Console) async throws -> ExitStatus {
        let family = try StoreFamily(of: access, zone)
        let members = try family.members.map { store in
            let standing = Standing(try store.mirrorStatus(zone: zone), now: Date())
            let device = try standing.status == nil ? nil : store.deviceID()
            return (store: store, standing: standing, device: device)
        }
        if console.isJSON {
            let further = members.dropFirst().map {
                $0.standing.json(device: $0.device, store: $0.store.name)
            }
            console.emit(members[0].standing.json(device: members[0].device, further: further))
        } else {
            for (index, member) in members.enumerated() {
                if index > 0 { console.line("") }
                print(member.standing, of: member.store, device: member.device, console)
            }
        }
        return members.map(\.standing.exitStatus).first { $0 != .done } ?? .done
    }

    private func print(
        _ standing: Standing, of store: StoreAccess, device: String?, _ console: Console
    ) {
        console.title("\(store.name): \(standing.headline)")
        if let status = standing.status {
            var table = TextTable(indent: 2)
            table.add("service", status.container ?? "not known yet")
            if let database = status.database { table.add("database", database.rawValue) }
            if let name = status.environment, name != MirroredStore.standardEnvironment {
                table.add("environment", name)
            }
            table.add("zone", status.zone + (status.zoneOwner.map { " of user \($0)" } ?? ""))
            if let device { table.add("device", device) }
            if let words = Self.words(for: status.selected) { table.add("sends", words) }
            table.add("waiting", waiting(status.pending))
            if status.keptHere > 0 {
                let count = Figure.count(status.keptHere, "object")
                table.add("kept here", "\(count), which --only leaves out")
            }
            table.add(
                "last round", status.lastRound.map { Timestamp.short($0) } ?? "none was whole yet")
            if let error = status.lastError { table.add("last error", error) }
            if let date = status.retryAt { table.add("not before", Timestamp.short(date)) }
            if let hold = status.hold { table.add("held up", words(for: hold)) }
            if let activity = status.activity { table.add("by itself", words(for: activity)) }
            if let date = status.waitingSince, status.isStalled(at: Date()) {
                table.add("stalled", "since \(Timestamp.short(date))")
            }
            table.add("conflicts", "\(status.conflictsWaiting) waiting")
            table.add("first import", status.initialImportCompleted ? "done" : "not done")
            for refusal in standing.refusals { table.add("refused", refusal.text) }
            console.block(table.text)
        }
        if let advice = standing.advice { console.line("  " + invocation.completing(advice)) }
    }

    /// What is sent, where it is not everything.
    private static func words(for selected: MirrorStatus.Selected) -> String? {
        guard !selected.parts.isEmpty else { return nil }
        let sent = selected.parts.compactMap { part in
            part.condition.map { part.entity + ($0 == everything ? "" : " where \($0)") }
        }
        let others = selected.parts.filter { $0.condition == nil }.map(\.entity)
        if selected.sendsOthers {
            let nothing = others.isEmpty ? [] : ["nothing of " + others.joined(separator: ", ")]
            return (["all"] + sent + nothing).joined(separator: "; ")
        }
        return sent.isEmpty ? "nothing" : "only " + sent.joined(separator: ", ")
    }

    private static let everything = "TRUEPREDICATE"

    private func words(for hold: MirrorHold) -> String {
        hold.message + (hold.until.map { " Until \(Timestamp.short($0))." } ?? "")
    }

    private func words(for activity: MirrorActivity) -> String {
        let who = "\(activity.name), process \(activity.process.number)"
        let since = "since \(Timestamp.short(activity.since))"
        return switch activity.state {
        case .stopped: "no, \(since) (\(who))"
        case _ where !activity.isAlive: "no: \(who) ended without a word"
        case .paused: "paused \(since) (\(who))"
        case .running: "yes, \(since) (\(who))"
        }
    }

    private func waiting(_ pending: MirrorStatus.Pending) -> String {
        guard pending.total > 0 else { return "nothing" }
        let parts = [
            (pending.inserts, "new"), (pending.updates, "changed"), (pending.deletes, "deleted"),
            (pending.pairs, "links"),
        ]
        return parts.filter { $0.0 > 0 }.map { "\(Figure.grouped($0.0)) \($0.1)" }
            .joined(separator: ", ")
    }
}

/// What a store's status comes to, in a word, a sentence and an exit status: for `status`, and for
/// `sync` at its end.
struct Standing {
    enum State: String {
        case notMirrored, inSync, conflicts, refused, throttled, failed, pending
    }

    let status: MirrorStatus?
    let state: State

    init(_ status: MirrorStatus?, now: Date) {
        self.status = status
        state = Self.state(of: status, now)
    }

    private static func state(of status: MirrorStatus?, _ now: Date) -> State {
        guard let status else { return .notMirrored }
        if status.isInSync { return .inSync }
        if let date = status.retryAt, date > now { return .throttled }
        if status.lastError != nil { return .failed }
        if !status.refusals.isEmpty { return .refused }
        // A waiting conflict holds its own object back, which counts as pending.
        if status.conflictsWaiting > 0 { return .conflicts }
        return .pending
    }

    var exitStatus: ExitStatus {
        switch state {
        case .inSync: .done
        case .conflicts: .conflictsWait
        case .notMirrored, .refused, .throttled, .failed, .pending: .failed
        }
    }

    /// The database whose users may not all write everything, where all that was refused is so for
    /// want of permission; nil else.
    var denying: MirrorDatabase? {
        guard let status, state == .refused, let database = status.database, database != .private,
            status.refusals.allSatisfy({ $0.reason.hasPrefix(Self.denied) })
        else { return nil }
        return database
    }

    private static let denied = RecordError.Code.accessDenied.rawValue

    /// Whether something waits for a deployment of the service's schema.
    private var waitsForSchema: Bool {
        status?.refusals.contains { $0.reason.hasPrefix(Ledger.refusedBySchema.rawValue) } ?? false
    }

    var headline: String {
        switch denying {
        case .shared: return "your edits of what others share are refused, and stay here."
        case .public: return "edits that are not yours to make are refused, and stay here."
        case .private, nil: break
        }
        return switch state {
        case .notMirrored: "never synced."
        case .inSync: "in sync."
        case .conflicts: "conflicts wait for a decision."
        case .refused: "the service refused records."
        case .throttled: "the service asked to wait."
        case .failed: "the last round failed."
        case .pending: "not in sync."
        }
    }

    /// What to do about it, with a command to be completed.
    var advice: String? {
        switch denying {
        case .shared:
            return "Ask the owner for permission to write (`diptych share` says who); the edits "
                + "go then by themselves." + restoring
        case .public:
            return "What others made in the public database is theirs to change, unless a role "
                + "lets you ('diptych service roles'). Ask them." + restoring
        case .private, nil: break
        }
        return switch state {
        case .inSync: nil
        case .notMirrored:
            "Sync it first: `diptych sync`; `diptych sync --help` tells what that needs."
        case .conflicts: "See and decide them: `diptych conflicts --waiting`"
        case .refused where waitsForSchema:
            "Nothing is lost: once who runs the service has deployed the schema that these objects "
                + "need (`diptych service schema --deploy`), they go with the next `diptych sync`."
        case .refused:
            "Change the refused objects so that the service takes them, then sync: `diptych sync`."
                + restoring
        case .throttled, .failed, .pending: "Sync: `diptych sync`"
        }
    }

    /// How objects are as the service has them again, where it would not delete or change them.
    private var restoring: String {
        guard let status else { return "" }
        let command = "`diptych conflicts --restore-refused`."
        return switch (status.refusedDeletions.isEmpty, status.refusedEdits.isEmpty) {
        case (true, true): ""
        case (false, true):
            " What you deleted stands there; it comes back here with " + command
        case (true, false): " Or take the edits back: " + command
        case (false, false):
            " What you deleted or edited stands there as it was; have it so again with " + command
        }
    }

    /// What the service refused.
    var refusals: [RefusalLine] { RefusalLine.all(of: status) }

    /// Why the store is not in sync; nil when it is.
    var reason: String? {
        guard state != .inSync else { return nil }
        return status?.lastError ?? status?.refusals.first?.reason ?? headline
    }

    /// `further` are the stores beside this one; of these each has its name.
    func json(device: String?, store: String? = nil, further: [JSON] = []) -> JSON {
        let pending = status?.pending
        return [
            "store": JSON(store),
            "inSync": .bool(state == .inSync), "state": .string(state.rawValue),
            "reason": JSON(reason), "device": JSON(device),
            "zones": .array(status.map { [zone($0)] } ?? []),
            "pending": [
                "inserts": JSON(pending.map { $0.inserts + $0.pairs } ?? 0),
                "updates": JSON(pending?.updates ?? 0), "deletes": JSON(pending?.deletes ?? 0),
            ],
            "conflictsWaiting": JSON(status?.conflictsWaiting ?? 0),
            "refused": .array(refusals.map(\.json)),
            "initialImportCompleted": .bool(status?.initialImportCompleted ?? false),
            "waitingSince": JSON(status?.waitingSince),
            "stalled": .bool(status?.isStalled(at: Date()) ?? false),
            "activity": status?.activity.map(activity) ?? .null,
            "hold": status?.hold.map(hold) ?? .null,
            "keptHere": JSON(status?.keptHere ?? 0),
            "selection": selection,
            "furtherStores": .array(further),
        ]
    }

    /// null where everything is sent.
    private var selection: JSON {
        guard let selected = status?.selected, !selected.parts.isEmpty else { return .null }
        return .array(
            selected.parts.map { part in
                [
                    "entity": .string(part.entity), "sends": .bool(part.condition != nil),
                    "predicate": JSON(part.condition),
                ]
            })
    }

    private func hold(_ hold: MirrorHold) -> JSON {
        [
            "reason": .string(hold.reason.rawValue), "message": .string(hold.message),
            "until": JSON(hold.until),
        ]
    }

    private func activity(_ activity: MirrorActivity) -> JSON {
        [
            "state": .string(activity.isAlive ? activity.state.rawValue : "stopped"),
            "process": JSON(Int(activity.process.number)), "name": .string(activity.name),
            "since": JSON(activity.since),
        ]
    }

    private func zone(_ status: MirrorStatus) -> JSON {
        [
            "database": JSON(status.database?.rawValue), "name": .string(status.zone),
            "environment": JSON(status.environment),
            "owner": JSON(status.zoneOwner),
            "queued": JSON(status.pending.total),
            "lastRound": JSON(status.lastRound), "error": JSON(status.lastError),
            "retryAt": JSON(status.retryAt),
        ]
    }
}
