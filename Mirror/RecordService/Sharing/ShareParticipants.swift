internal import RecordWire

/// The list of those who take part in a share.
struct ShareParticipants {
    private(set) var list: [ShareParticipant]
    private let limits: SharingLimits
    private let makeID: () throws -> String

    init(
        _ list: [ShareParticipant], _ limits: SharingLimits, _ makeID: @escaping () throws -> String
    ) {
        self.list = list
        self.limits = limits
        self.makeID = makeID
    }

    /// The list of a new share.
    mutating func begin(with owner: UserIdentity) throws {
        list = [
            ShareParticipant(
                participantID: try makeID(), identity: owner, permission: .readWrite,
                status: .accepted, kind: .owner)
        ]
    }

    /// Takes the list that the owner gives: who is not in it is out, who is new is invited. Whether
    /// somebody accepted is not the owner's to say. `known` finds who may be found by others.
    mutating func replace(
        with given: [ShareParticipant], known: (UserLookupInfo) throws -> UserIdentity?
    ) throws {
        try checkCount(given.count)
        var replaced = list.filter { $0.kind == .owner }
        for participant in given where participant.status != .removed {
            guard participant.kind != .owner, participant.kind != .administrator else {
                guard try participant.kind == .owner && isOwner(participant, known) else {
                    throw RecordError(
                        .badRequest, "A share has one owner and no administrators; send USER.")
                }
                continue
            }
            guard participant.permission == .readOnly || participant.permission == .readWrite else {
                throw RecordError(
                    .badRequest,
                    "The permission of a participant is READ_ONLY or READ_WRITE; leave out who "
                        + "may do nothing.")
            }
            var entry = try former(participant) ?? invited(participant, known)
            entry.permission = participant.permission
            Self.add(entry, to: &replaced)
        }
        list = replaced
        try checkCount(list.count)
    }

    /// Whether an entry that says OWNER names no other user. It may come without a name.
    private func isOwner(
        _ given: ShareParticipant, _ known: (UserLookupInfo) throws -> UserIdentity?
    ) throws -> Bool {
        var name = given.userRecordName ?? ""
        if name.isEmpty, let email = given.identity.lookupInfo?.emailAddress?.lowercased() {
            name = try known(UserLookupInfo(emailAddress: email))?.userRecordName ?? ""
        }
        return name.isEmpty || ZoneID.ownerAliases.contains(name)
            || list.contains { $0.kind == .owner && $0.userRecordName == name }
    }

    /// The entry that is meant, by the ID that it was given here, else by who it is: an app may
    /// make IDs of its own.
    private func former(_ given: ShareParticipant) -> ShareParticipant? {
        list.first { !given.participantID.isEmpty && $0.participantID == given.participantID }
            ?? list.first { Self.isSame($0, given) }
    }

    /// One person is one participant; who accepted goes before who was invited once more.
    private static func add(_ entry: ShareParticipant, to list: inout [ShareParticipant]) {
        let place = list.firstIndex {
            $0.participantID == entry.participantID || isSame($0, entry)
        }
        guard let place else { return list.append(entry) }
        if entry.status == .accepted, list[place].status != .accepted { list[place] = entry }
    }

    /// Makes those fit who came by the share's address.
    mutating func fit(_ publicPermission: ShareParticipant.Permission) {
        list.removeAll { publicPermission == .none && $0.kind == .publicUser }
        for index in list.indices where list[index].kind == .publicUser {
            list[index].permission = publicPermission
        }
    }

    private func invited(
        _ participant: ShareParticipant, _ known: (UserLookupInfo) throws -> UserIdentity?
    ) throws -> ShareParticipant {
        var info = participant.identity.lookupInfo ?? UserLookupInfo()
        info.emailAddress = info.emailAddress?.lowercased()
        info.userRecordName = info.userRecordName ?? participant.identity.userRecordName
        let names = [info.emailAddress, info.phoneNumber, info.userRecordName]
        guard names.contains(where: { $0?.isEmpty == false }) else {
            throw RecordError(
                .badRequest,
                "A participant has no lookupInfo; give an emailAddress or a userRecordName.")
        }
        guard names.allSatisfy({ $0?.utf8.count ?? 0 <= 255 }) else {
            throw RecordError(.limitExceeded, "The lookupInfo of a participant is too long.")
        }
        var identity = UserIdentity(lookupInfo: info)
        if let found = try known(info) {
            identity.userRecordName = found.userRecordName
            identity.nameComponents = found.nameComponents
        }
        return ShareParticipant(participantID: try makeID(), identity: identity)
    }

    /// Whether both mean one person.
    private static func isSame(_ one: ShareParticipant, _ other: ShareParticipant) -> Bool {
        let pairs = [
            (one.userRecordName, other.userRecordName),
            (
                one.identity.lookupInfo?.emailAddress,
                other.identity.lookupInfo?.emailAddress?.lowercased()
            ),
            (one.identity.lookupInfo?.phoneNumber, other.identity.lookupInfo?.phoneNumber),
        ]
        return pairs.contains { $0.0?.isEmpty == false && $0.0 == $0.1 }
    }

    private func checkCount(_ count: Int) throws {
        guard count > limits.participantsMax else { return }
        throw RecordError(
            .limitExceeded,
            "The share would have \(count) participants; at most "
                + "\(limits.participantsMax) are taken.")
    }

    // MARK: Those who are asked

    /// Who `user` is in the share; somebody new where the share is open to all who know it. nil for
    /// whom it is not meant.
    func participant(
        _ user: String, _ profile: ProfileRow?, publicPermission: ShareParticipant.Permission
    ) -> ShareParticipant? {
        if let known = list.first(where: { $0.userRecordName == user }) { return known }
        if let email = profile?.emailAddress,
            let invited = list.first(where: {
                $0.userRecordName == nil && $0.identity.lookupInfo?.emailAddress == email
            })
        {
            return invited
        }
        guard publicPermission == .readOnly || publicPermission == .readWrite else { return nil }
        return ShareParticipant(
            participantID: "", identity: UserIdentity(userRecordName: user),
            permission: publicPermission, status: .invited, kind: .publicUser)
    }

    /// Takes `participant` in as one who accepted. Throws LIMIT_EXCEEDED.
    mutating func accept(
        _ participant: ShareParticipant, _ user: String, _ profile: ProfileRow?
    ) throws -> ShareParticipant {
        var accepted = participant
        accepted.status = .accepted
        accepted.identity.userRecordName = user
        if let profile { accepted.identity.nameComponents = profile.nameComponents }
        if accepted.participantID.isEmpty {
            accepted.participantID = try makeID()
            list.append(accepted)
            try checkCount(list.count)
        } else if let index = list.firstIndex(where: {
            $0.participantID == participant.participantID
        }) {
            list[index] = accepted
        }
        // By an invitation that is left, who is removed later would come back.
        list.removeAll {
            $0.kind != .owner && $0.participantID != accepted.participantID
                && Self.isMeant(user, profile, by: $0)
        }
        return accepted
    }

    private static func isMeant(
        _ user: String, _ profile: ProfileRow?, by participant: ShareParticipant
    ) -> Bool {
        if let known = participant.userRecordName, !known.isEmpty { return known == user }
        guard let email = profile?.emailAddress else { return false }
        return participant.identity.lookupInfo?.emailAddress == email
    }

    mutating func remove(_ user: String) {
        list.removeAll { $0.kind != .owner && $0.userRecordName == user }
    }

    /// What those may do who accepted.
    func grants(of share: String) -> [ShareGrant] {
        list.compactMap { participant in
            guard participant.kind != .owner, participant.status == .accepted,
                let user = participant.identity.userRecordName
            else { return nil }
            return ShareGrant(
                share: share, user: user, writes: participant.permission == .readWrite)
        }
    }
}

extension ShareParticipant {
    /// Who it is or was asked for as.
    fileprivate var userRecordName: String? {
        identity.userRecordName ?? identity.lookupInfo?.userRecordName
    }
}

extension Record {
    /// A share as `user` sees it: others are told of those alone who accepted, and not how they
    /// were asked.
    func share(shownTo user: String, participantID: String? = nil) -> Record {
        guard let participants else { return self }
        let isOwner = participants.contains {
            $0.kind == .owner && $0.identity.userRecordName == user
        }
        func isSelf(_ participant: ShareParticipant) -> Bool {
            participant.userRecordName == user || participant.participantID == participantID
        }
        var shown = self
        shown.participants = participants.filter {
            isOwner || $0.status == .accepted || isSelf($0)
        }.map { participant in
            var participant = participant
            if !isOwner, !isSelf(participant) { participant.identity.lookupInfo = nil }
            return participant
        }
        shown.currentParticipantID = participants.first(where: isSelf)?.participantID
        return shown
    }
}
