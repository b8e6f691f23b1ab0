internal import Foundation
internal import MirrorEngine
internal import RecordWire

/// `diptych share`: what a store shares with others, and what others share with it.
struct ShareVerb: Verb {
    private static let objects = Option(
        "objects", "OBJECTS", repeats: true,
        "make, add: ENTITY, ENTITY:PREDICATE, Book/p3 or a record's name")
    private static let wholeZone = Option(
        "whole-zone", nil, "make: share all objects of the store, now and later")
    private static let title = Option("title", "TEXT", "make: what the share is called")
    private static let openTo = Option(
        "open-to", "none|read|write", "make: what anyone may do who has the invitation (none)")
    private static let permission = Option(
        "permission", "read|write", "invite: what the user may do (read)")
    private static let share = Option("share", "NAME", "which share, where there are several")
    private static let remember = Option(
        "remember", nil, "accept: keep these settings in diptych.conf beside the store")
    private static let kept =
        [
            MirrorOptions.service, MirrorOptions.container, MirrorOptions.tokenFile,
            MirrorOptions.authorityFile, Option.model, Option.zone, MirrorOptions.policy,
            MirrorOptions.deletion,
        ]

    static let manual = Manual(
        name: "share", summary: "Shares objects with other users, and takes part in their shares.",
        operands: ["STORE"], optionalOperands: ["WORK", "NAME"],
        works: Work.allCases.map(\.rawValue), worksPlace: 1,
        options: [
            objects, wholeZone, title, openTo, permission, share,
        ] + kept + KeySource.options + [remember, ServiceChannel.trust, ServiceChannel.insecure],
        notes: [
            """
            WORK is one of
              list           the shares of the store's zone, and who takes part; without WORK too
              make           shares the objects of --objects, and all that is linked with them
              add            puts the objects of --objects into a share
              invite USER    lets a user take part, or changes --permission; prints the invitation
              remove USER    lets a user take part no more
              link           prints the invitation, for those who are invited
              accept LINK    takes part: the shared objects come into STORE
              leave          takes part no more: the shared objects leave STORE
              end            ends a share; its objects stay here
            """,
            HelpText.wrapped(
                "USER is an e-mail address, a telephone number (+49…) or a user's record name, as "
                    + "'diptych service users' has it. What is linked with shared objects, "
                    + "directly or by others, is shared with them, also later. Objects stay where "
                    + "they are, in the zone of their owner, and are in one share."),
            HelpText.wrapped(
                "'accept' wants an empty store of the same model, made by 'diptych create'; from "
                    + "then on 'diptych sync' keeps it equal. What a further owner shares comes "
                    + "into a store beside it, whose name has 16 digits more, as the app's "
                    + "container has it: 'accept' says which. 'sync', 'status', 'verify' and "
                    + "'list' go through these too; other verbs and works take "
                    + "their names. Who may only read has edits refused, "
                    + "each with its reason in 'diptych status'; they stay in the store. When a "
                    + "share ends, its objects leave the stores of those who took part; what was "
                    + "not sent is in 'diptych conflicts'."),
            HelpText.wrapped(
                "All but list and link run a round, as 'diptych sync' does, and want the same "
                    + "settings. Nothing is deleted by sharing, inviting, or ending a share."),
        ],
        examples: [
            (
                "diptych share Library.sqlite make --objects 'Book:pages > 300' "
                    + "--title 'Long ones'",
                "the books, their authors and all else that is linked with them"
            ),
            (
                "diptych share Library.sqlite invite ben@example.org --permission write",
                "prints what Ben is to be sent"
            ),
            ("diptych share Library.sqlite link", "the invitation again"),
            (
                "diptych share Shared.sqlite accept https://127.0.0.1:8443/share/LINK "
                    + "--remember \\\n      --service https://127.0.0.1:8443 "
                    + "--container iCloud.local.diptych \\\n      --token-file ben.tokens "
                    + "--ca-file records/tls/authority.pem",
                "on Ben's machine"
            ),
            ("diptych share Library.sqlite", "who takes part"),
            ("diptych share Library.sqlite remove ben@example.org", "and no more"),
            ("diptych share Library.sqlite end", "nobody takes part"),
        ])

    private enum Work: String, CaseIterable {
        case list, make, add, invite, remove, link, accept, leave, end

        var takesName: Bool { [.invite, .remove, .accept].contains(self) }

        fileprivate var options: [Option] {
            switch self {
            case .make: [objects, wholeZone, title, openTo]
            case .add: [objects, share]
            case .invite: [permission, share]
            case .remove, .link, .end: [share]
            case .accept: [remember]
            case .list, .leave: []
            }
        }
    }

    private let work: Work
    private let name: String
    private let objects: [String]
    private let isWhole: Bool
    private let title: String?
    private let openTo: ShareParticipant.Permission
    private let permission: ShareParticipant.Permission
    private let shareName: String?
    private let settings: [(name: String, value: String)]
    private let access: StoreAccess
    private let round: RoundSettings
    /// nil for what the store alone can tell.
    private let service: ServiceChannel?

    init(_ arguments: Arguments) throws {
        work = arguments.operand(1).isEmpty ? .list : try arguments.work(Work.self, at: 1)
        name = arguments.operand(2)
        try Self.check(work, name, arguments)
        objects = arguments.values(Self.objects)
        isWhole = arguments.has(Self.wholeZone)
        title = arguments.value(Self.title)
        openTo =
            try Self.permission(arguments, Self.openTo) ?? ShareParticipant.Permission.none
        permission = try Self.permission(arguments, Self.permission) ?? .readOnly
        shareName = arguments.value(Self.share)
        access = StoreAccess(arguments)
        // The invitation decides which database a store has, and no file.
        let goesByStore = [.list, .link, .accept].contains(work)
        round = try RoundSettings(
            arguments,
            zone: goesByStore ? ZoneChoice(ofStoreBy: arguments) : ZoneChoice(arguments))
        service = [.list, .link].contains(work) ? nil : try ServiceChannel(arguments)
        settings = arguments.has(Self.remember) ? arguments.given(Self.kept) : []
    }

    private static func check(_ work: Work, _ name: String, _ arguments: Arguments) throws {
        guard work.takesName != name.isEmpty else {
            let form =
                manual.notes[0].split(separator: "\n")
                .first { $0.contains("  \(work.rawValue) ") } ?? ""
            throw misuse(
                name.isEmpty
                    ? "What comes after \(work.rawValue) is missing."
                    : "'\(name)' is one word too many after \(work.rawValue).",
                form.trimmingCharacters(in: .whitespaces) + ".")
        }
        let own = [objects, wholeZone, title, openTo, permission, share, remember]
        let strange = own.first { option in
            arguments.has(option) && !work.options.contains { $0.name == option.name }
        }
        if let strange {
            throw misuse(
                "--\(strange.name) does not go with \(work.rawValue).",
                "`diptych share --help` tells which option belongs to which work.")
        }
        let isNamed = arguments.has(objects)
        let isWhole = arguments.has(wholeZone)
        if [.make, .add].contains(work), isNamed == isWhole {
            throw misuse(
                isNamed
                    ? "--objects and --whole-zone do not go together."
                    : "It is not said which objects.",
                "Write --objects 'Book:pages > 300'; for all of the store make a share with "
                    + "--whole-zone.")
        }
    }

    private static func permission(
        _ arguments: Arguments, _ option: Option
    ) throws -> ShareParticipant.Permission? {
        switch try arguments.choice(option, among: option.words) {
        case "read": .readOnly
        case "write": .readWrite
        case "none": ShareParticipant.Permission.none
        default: nil
        }
    }

    private static func misuse(_ message: String, _ hint: String) -> CommandError {
        CommandError("usage", message, hint: hint, status: .usage)
    }

    // MARK: Running

    func run(_ console: Console) async throws -> ExitStatus {
        guard let service else { return try tell(console) }
        service.warn(console)
        if work == .accept {
            try await accept(service, console)
            return .done
        }
        let mirrored = try access.openMirrored(round)
        let desk = try ShareDesk(mirrored, service)
        let report = ShareReport(console)
        switch work {
        case .make:
            let made = try await desk.make(
                isWhole ? nil : objects, title: title, openTo: openTo)
            report.made(made.share, objects: made.count, at: service.serviceURL)
        case .add:
            let added = try await desk.add(objects, to: shareName)
            report.made(added.share, objects: added.count, at: service.serviceURL)
        case .invite:
            let share = try await desk.invite(name, permission, to: shareName)
            report.changed(share, at: service.serviceURL)
        case .remove:
            let share = try await desk.remove(name, from: shareName)
            report.changed(share, at: service.serviceURL)
        case .end: report.ended(try await desk.end(shareName))
        case .leave: report.left(try await desk.leave())
        case .list, .link, .accept: break
        }
        return .done
    }

    /// What the store knows, as of its last round.
    private func tell(_ console: Console) throws -> ExitStatus {
        let report = ShareReport(console)
        guard work == .list else {
            let mirrored = try access.openMirrored(round)
            let share = try ShareDesk.chosen(shareName, among: mirrored.shares())
            report.link(share, at: try Self.service(of: mirrored))
            return .done
        }
        let family = try StoreFamily(of: access, round.zone)
        for member in family.members {
            if !family.further.isEmpty { report.head(member.name) }
            let mirrored = try member.openMirrored(round)
            report.list(
                try mirrored.shares(), isShared: mirrored.settings.isShared,
                at: try Self.service(of: mirrored), store: member.name)
        }
        return .done
    }

    private static func service(of mirrored: MirroredStore) throws -> URL? {
        let known = try mirrored.status()?.container?.split(separator: " ").first
        return known.flatMap { URL(string: String($0)) }
    }

    private func accept(_ service: ServiceChannel, _ console: Console) async throws {
        let guid = ZoneShares.shortGUID(in: name)
        let accepted = try await ShareDesk.accept(guid, into: access, round, service)
        if !settings.isEmpty {
            try ConfigurationFile.remember(settings, besideStore: access.url)
            service.keepDestination(console)
        }
        let place = accepted.store
        ShareReport(console).accepted(
            accepted.metadata, accepted.summary, store: place.name,
            beside: place.url == access.url ? nil : access.name)
    }
}
