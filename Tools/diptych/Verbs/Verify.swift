internal import Foundation
internal import MirrorEngine
internal import MirrorTransport
internal import RecordWire

/// `diptych verify`: a store beside its service, record by record.
struct Verify: Verb {
    private static let limit = Option("limit", "N", "show at most so many differences (50)")

    static let manual = Manual(
        name: "verify", summary: "Compares a store with its service, record by record.",
        operands: ["STORE"],
        options: ServiceChannel.options + KeySource.options + [.model] + ZoneChoice.options + [
            limit, ServiceChannel.trust, ServiceChannel.insecure,
        ],
        notes: [
            HelpText.wrapped(
                "Both sides are read whole and nothing is changed: the store is looked at in a "
                    + "copy, as after a look at its history, the service through its feed. Each "
                    + "side has a digest; "
                    + "equal ones stand for equal objects and links. What differs is told with the "
                    + "reason where the store knows one: an edit that waits, a record that was not "
                    + "fetched yet, or that is kept aside or refused. A difference without a "
                    + "reason is a fault, here, there or between."),
            HelpText.wrapped(
                "It repairs nothing. 'diptych sync' settles what has a reason; for the rest, "
                    + "'diptych reset' keeps every edit and lets the next round compare "
                    + "everything, which loses nothing on either side. Exit status 1: the sides "
                    + "differ."),
        ],
        examples: [("diptych sync Library.sqlite; diptych verify Library.sqlite", "after a round")])

    private let access: StoreAccess
    private let zone: ZoneChoice
    private let keys: SealingKeys?
    private let service: ServiceChannel
    private let linesMax: Int
    private let invocation: Invocation

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        zone = try ZoneChoice(arguments)
        keys = try KeySource.keys(arguments)
        linesMax = try arguments.number(Self.limit, in: 1...Int.max) ?? 50
        service = try ServiceChannel(arguments)
        invocation = arguments.invocation
    }

    func run(_ console: Console) async throws -> ExitStatus {
        service.warn(console)
        return try await StoreFamily(of: access, zone).each(console) {
            try await verify($0, console)
        }
    }

    private func verify(_ store: StoreAccess, _ console: Console) async throws -> ExitStatus {
        let copy = try StoreCopy(of: store.url, withValues: true)
        // Values in files of their own are read when they are compared.
        defer { withExtendedLifetime(copy) {} }
        let mirrored = try store.openMirrored(copy, zone: zone, keys: keys)
        // What was saved since the last round is noted, so that it has its reason.
        guard let status = try mirrored.status() else {
            throw CommandError(
                "notMirrored", "The store was never synced, so there is nothing to compare.",
                hint: "Sync it first: `diptych sync`.")
        }
        if let known = status.container, known != service.place {
            throw CommandError(
                "otherContainer", "The store is mirrored with \(known), not with \(service.place).",
                hint: "Name that service.", status: .usage)
        }
        try mirrored.checkKeys()
        let carrier = try service.carrier(of: mirrored)
        let records = try await records(in: mirrored.zoneID, carrier, console)
        let comparison = try MirrorComparison(mirrored, records: records)
        show(comparison, of: store.name, console)
        return comparison.isEqual ? .done : .failed
    }

    private func records(
        in id: ZoneID, _ carrier: CurlChannel, _ console: Console
    ) async throws -> [String: Record] {
        var records: [String: Record] = [:]
        var token: String?
        while true {
            let zone = ZoneChanges.Zone(zoneID: id, syncToken: token)
            let answer = try await carrier.send(.zoneChanges(ZoneChanges(zones: [zone])))
            guard case .zoneChanges(let pages) = answer, let page = pages.first else {
                throw RecordError(.internalError, "The service gave no page of changes.")
            }
            if let failure = page.failure {
                // A zone that is not there has nothing in it.
                guard failure.code == .zoneNotFound else { throw failure }
                return [:]
            }
            for record in page.records { records[record.recordName] = record }
            console.progress("read \(Figure.count(records.count, "record"))")
            token = page.syncToken
            if !page.moreComing { return records.filter { !$0.value.deleted } }
        }
    }

    // MARK: On paper

    private func show(
        _ comparison: MirrorComparison, of store: String, _ console: Console
    ) {
        guard !console.isJSON else { return emit(comparison, of: store, console) }
        let count = comparison.differences.count
        console.title(
            comparison.isEqual
                ? "\(store) and \(service.url) hold the same."
                : "\(store) and \(service.url) differ: \(Figure.count(count, "difference")).")
        var sides = TextTable(rightAligned: [1, 2], indent: 2)
        sides.add("", "OBJECTS", "PAIRS", "DIGEST")
        for (name, side) in [("store", comparison.here), ("service", comparison.there)] {
            sides.add(
                name, Figure.grouped(side.objects), Figure.grouped(side.pairs), side.digest)
        }
        console.block(sides.text)
        if comparison.leftOut > 0 {
            let count = Figure.count(comparison.leftOut, "object")
            console.line("  Not compared, since --only leaves them out: \(count).")
        }
        guard count > 0 else { return }
        console.line("")
        for difference in comparison.differences.prefix(linesMax) {
            console.line("  " + sentence(difference))
        }
        if count > linesMax {
            console.aside("  … and \(Figure.grouped(count - linesMax)) more; --limit shows them")
        }
        console.line("")
        console.line(invocation.completing(advice(comparison)))
    }

    private func advice(_ comparison: MirrorComparison) -> String {
        let unexplained = comparison.differences.count { $0.reason == nil }
        guard unexplained == 0 else {
            return "\(Figure.count(unexplained, "difference")) without a reason: "
                + "`diptych reset`, then `diptych sync`, compare everything and lose no edit."
        }
        let lasting = comparison.differences.count(where: \.isLasting)
        if lasting == 0 { return "All of it has a reason, which a round settles: `diptych sync`" }
        return "All of it has a reason, which a round settles but for what is kept aside, refused, "
            + "or was not sent (\(Figure.grouped(lasting))): `diptych status` tells what to do."
    }

    private func sentence(_ difference: MirrorComparison.Difference) -> String {
        let reason = difference.reason.map { ": \($0)" } ?? ", for no reason that the store knows"
        switch difference.kind {
        case .onlyHere: return "\(difference.title) is only in the store\(reason)."
        case .onlyThere: return "\(difference.title) is only at the service\(reason)."
        case .unknownThere: return "\(difference.title) is only at the service\(reason)."
        case .differs:
            let values = difference.properties.map {
                "\($0.name) is \($0.here) in the store and \($0.there) at the service"
            }
            return "\(difference.title): \(values.joined(separator: "; "))\(reason)."
        }
    }

    private func emit(
        _ comparison: MirrorComparison, of store: String, _ console: Console
    ) {
        for difference in comparison.differences {
            console.emit([
                "event": "difference", "kind": .string(difference.kind.rawValue),
                "object": .string(difference.title), "record": .string(difference.recordName),
                "properties": .array(
                    difference.properties.map {
                        [
                            "name": .string($0.name), "store": .string($0.here),
                            "service": .string($0.there),
                        ]
                    }),
                "reason": JSON(difference.reason),
            ])
        }
        console.emit([
            "event": "verified", "file": .string(store), "equal": .bool(comparison.isEqual),
            "differences": JSON(comparison.differences.count),
            "leftOut": JSON(comparison.leftOut),
            "unexplained": JSON(comparison.differences.count { $0.reason == nil }),
            "store": json(comparison.here), "service": json(comparison.there),
        ])
    }

    private func json(_ side: MirrorComparison.Side) -> JSON {
        [
            "objects": JSON(side.objects), "pairs": JSON(side.pairs),
            "digest": .string(side.digest),
        ]
    }
}
