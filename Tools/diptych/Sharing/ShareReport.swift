internal import Foundation
internal import MirrorEngine
internal import RecordWire

/// Says of shares what people and programs want to know.
struct ShareReport {
    private let console: Console

    init(_ console: Console) { self.console = console }

    // MARK: All

    /// Above what a store of several has.
    func head(_ store: String) {
        if !console.isJSON { console.title("\(store):") }
    }

    func list(_ shares: [Record], isShared: Bool, at service: URL?, store: String? = nil) {
        guard !console.isJSON else {
            return shares.forEach { console.emit(json($0, at: service, store: store)) }
        }
        guard !shares.isEmpty else {
            return console.line(
                isShared ? "No share is known yet; a round tells." : "Nothing is shared.")
        }
        for (index, share) in shares.enumerated() {
            if index > 0 { console.line("") }
            console.title(head(of: share))
            var table = TextTable(indent: 2)
            for participant in share.participants ?? [] {
                table.add(
                    Self.name(of: participant.identity), Self.role(participant),
                    Self.words(participant.permission), Self.words(participant.status))
            }
            let open = share.publicPermission ?? ShareParticipant.Permission.none
            if open != .none {
                table.add("anyone invited", "", Self.words(open))
            }
            console.block(table.text)
        }
    }

    private func head(of share: Record) -> String {
        let what = share.sharedRoot == nil ? "the whole zone" : "objects"
        return "\(share.shareTitle ?? share.recordName): \(what)"
            + (share.shareTitle == nil ? "" : " (\(share.recordName))")
    }

    func link(_ share: Record, at service: URL?) {
        guard !console.isJSON else { return console.emit(json(share, at: service)) }
        console.line(Self.invitation(share, at: service) ?? share.recordName)
    }

    // MARK: One

    func made(_ share: Record, objects: Int?, at service: URL) {
        guard !console.isJSON else { return console.emit(json(share, objects, at: service)) }
        let what = objects.map { Figure.count($0, "object") + ($0 == 1 ? " is" : " are") }
        console.note(
            "\(share.shareTitle ?? share.recordName): \(what ?? "the whole store is") shared now.")
        tellInvitation(share, at: service)
    }

    func changed(_ share: Record, at service: URL) {
        guard !console.isJSON else { return console.emit(json(share, at: service)) }
        list([share], isShared: false, at: service)
        tellInvitation(share, at: service)
    }

    private func tellInvitation(_ share: Record, at service: URL) {
        guard let address = Self.invitation(share, at: service) else { return }
        console.note("Those who are invited take part by: diptych share STORE accept \(address)")
    }

    func ended(_ share: Record) {
        guard !console.isJSON else {
            return console.emit(["ended": .string(share.recordName)])
        }
        console.note(
            "\(share.shareTitle ?? share.recordName) has ended; its objects are here, and leave "
                + "the stores of those who took part with their next round.")
    }

    func left(_ count: Int) {
        guard !console.isJSON else { return console.emit(["left": JSON(count)]) }
        console.note(
            "\(Figure.count(count, "object")) left the store; it waits for another share.")
    }

    /// `beside` is the store of the call, where the objects came into another.
    func accepted(
        _ found: ShareMetadata, _ summary: SyncSummary, store: String, beside: String?
    ) {
        guard !console.isJSON else {
            return console.emit([
                "accepted": .string(found.share.recordName),
                "title": JSON(found.share.shareTitle),
                "owner": JSON(found.owner.userRecordName),
                "permission": .string(Self.words(found.participant.permission)),
                "imported": JSON(summary.imported), "inSync": .bool(summary.isInSync),
                "store": .string(store), "beside": JSON(beside),
            ])
        }
        let what = found.share.shareTitle.map { "'\($0)'" } ?? "The share"
        console.note(
            "\(what) of \(Self.name(of: found.owner)) came into \(store): "
                + "\(Figure.count(summary.imported, "change")). You may "
                + "\(Self.words(found.participant.permission)) there."
                + (beside.map { " It is beside \($0), which has another owner's objects." } ?? ""))
    }

    // MARK: Words

    static func name(of identity: UserIdentity) -> String {
        let parts = [identity.nameComponents?.givenName, identity.nameComponents?.familyName]
            .compactMap { $0 }
        return parts.isEmpty
            ? identity.lookupInfo?.emailAddress ?? identity.lookupInfo?.phoneNumber
                ?? identity.userRecordName ?? identity.lookupInfo?.userRecordName ?? "somebody"
            : parts.joined(separator: " ")
    }

    private static func role(_ participant: ShareParticipant) -> String {
        switch participant.kind {
        case .owner: "owner"
        case .publicUser: "came by the invitation"
        case .user, .administrator, .unknown: "was invited"
        }
    }

    private static func words(_ permission: ShareParticipant.Permission) -> String {
        switch permission {
        case .readOnly: "read"
        case .readWrite: "write"
        case .none, .unknown: "none"
        }
    }

    private static func words(_ status: ShareParticipant.Status) -> String {
        switch status {
        case .accepted: "takes part"
        case .invited: "has not accepted yet"
        case .removed: "removed"
        case .unknown: "unknown"
        }
    }

    private static func invitation(_ share: Record, at service: URL?) -> String? {
        guard let service else { return share.shortGUID }
        return ZoneShares.invitation(to: share, at: service)?.absoluteString
    }

    // MARK: For programs

    private func json(
        _ share: Record, _ objects: Int? = nil, at service: URL?, store: String? = nil
    ) -> JSON {
        [
            "share": .string(share.recordName), "title": JSON(share.shareTitle),
            "wholeZone": .bool(share.sharedRoot == nil),
            "invitation": JSON(Self.invitation(share, at: service)),
            "openTo": .string(
                Self.words(share.publicPermission ?? ShareParticipant.Permission.none)),
            "objects": objects.map { JSON($0) } ?? .null, "store": JSON(store),
            "participants": .array((share.participants ?? []).map(Self.json)),
        ]
    }

    private static func json(_ participant: ShareParticipant) -> JSON {
        [
            "user": JSON(
                participant.identity.userRecordName
                    ?? participant.identity.lookupInfo?.userRecordName),
            "name": .string(name(of: participant.identity)),
            "email": JSON(participant.identity.lookupInfo?.emailAddress),
            "role": .string(participant.kind == .owner ? "owner" : "participant"),
            "status": .string(participant.status.rawValue.lowercased()),
            "permission": .string(words(participant.permission)),
        ]
    }
}
