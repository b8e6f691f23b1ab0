internal import Foundation
internal import Platform
internal import RecordService
internal import RecordWire

/// `diptych service`: who and what a record service knows, and copies of its database.
struct ServiceVerb: Verb {
    private static let data = Option(
        "data", "DIR", setting: true, "the service's data folder, as of serve")
    private static let add = Option("add", "NAME", "containers, users: make this one")
    private static let issue = Option("issue", "USER", "tokens: make tokens for this user")
    private static let container = Option(
        "container", "ID", setting: true, "tokens: the container they are for")
    private static let tokenFile = Option(
        "token-file", "FILE", "tokens: where to write what --issue made")
    private static let administrator = Option(
        "administrator", "NAME", "tokens: make one for the console's administrator")
    private static let revoke = Option("revoke", "ID", "tokens: make this one useless")
    private static let set = Option("set", "USER", "quotas: change what this user may keep")

    static let manual = Manual(
        name: "service", summary: "Administers a record service: users, tokens, backups.",
        operands: ["WORK"], optionalOperands: ["FILE"],
        options: [data, add, issue, container, tokenFile, administrator, revoke, set]
            + QuotaChoice.options,
        readsSettingsBesideStore: false,
        notes: [
            """
            WORK is one of
              status        what each container holds
              containers    lists containers; --add ID makes one
              users         lists users; --add LABEL makes one
              tokens        lists tokens, without their secrets; --issue, --administrator, --revoke
              quotas        lists what users have and may have; --set USER with --records, --bytes
              audit         lists what was done here, by whom and when
              backup FILE   copies the database to a new FILE, while the service runs
              restore FILE  puts a backup in the database's place; the service must be stopped
            """,
            HelpText.wrapped(
                "All but restore work beside a running service, which knows of changes at once. A "
                    + "user is named by record name or label. After a restore the devices send "
                    + "again what the backup lacks; what was there before is kept beside it."),
        ],
        examples: [
            ("diptych service users --data records --add Ann", "a further user"),
            (
                "diptych service tokens --data records --issue Ann "
                    + "--container iCloud.local.diptych --token-file ann.tokens",
                "tokens for a device of that user"
            ),
            (
                "diptych service quotas --data records --set Ann --records 10000 --bytes none",
                "at most ten thousand records of that user, of any size"
            ),
            ("diptych service backup monday.sqlite --data records", "a copy, at any time"),
        ])

    private enum Work: String, CaseIterable {
        case status, containers, users, tokens, quotas, audit, backup, restore
        var takesFile: Bool { self == .backup || self == .restore }

        /// What tells it to do something else than to list.
        var options: [String] {
            switch self {
            case .containers, .users: [ServiceVerb.add.name]
            case .tokens:
                [ServiceVerb.issue, ServiceVerb.administrator, ServiceVerb.revoke].map(\.name)
            case .quotas: [ServiceVerb.set.name]
            case .status, .audit, .backup, .restore: []
            }
        }
    }

    private enum Deed {
        case list
        case add(String)
        case issue(user: String, container: String, file: URL)
        case issueAdministrator(label: String, file: URL)
        case revoke(String)
        case setQuota(user: String, QuotaChoice)
        case copy(URL)
        case restore(URL)
    }

    private let work: Work
    private let deed: Deed
    private let folder: URL

    init(_ arguments: Arguments) throws {
        work = try arguments.work(Work.self)
        folder = arguments.file(Self.data) ?? DataFolder.standard(arguments.environment)
        deed = try Self.deed(of: work, arguments)
    }

    private static func deed(of work: Work, _ arguments: Arguments) throws -> Deed {
        let file = arguments.operand(1)
        guard work.takesFile != file.isEmpty else {
            throw misuse(
                file.isEmpty ? "FILE is missing." : "'\(file)' is one word too many.",
                "Write diptych service \(work.rawValue)" + (work.takesFile ? " FILE." : "."))
        }
        let given = [add, issue, administrator, revoke, set].filter { arguments.has($0) }
        let fitting = work.options
        guard given.count < 2, given.allSatisfy({ fitting.contains($0.name) }) else {
            throw misuse(
                "--\(given[0].name) does not go with \(work.rawValue), or not with another.",
                "`diptych service --help` tells which option belongs to which work.")
        }
        if let name = arguments.value(add) { return .add(name) }
        if let id = arguments.value(revoke) { return .revoke(id) }
        if let deed = try changeOfQuota(arguments) { return deed }
        if let label = arguments.value(administrator) {
            return .issueAdministrator(label: label, file: try Self.file(ofTokens: arguments))
        }
        if let user = arguments.value(issue) {
            return .issue(
                user: user, container: try arguments.required(container),
                file: try Self.file(ofTokens: arguments))
        }
        guard work.takesFile else { return .list }
        let url = URL(fileURLWithPath: file).absoluteURL
        return work == .backup ? .copy(url) : .restore(url)
    }

    private static func changeOfQuota(_ arguments: Arguments) throws -> Deed? {
        let quota = try QuotaChoice(arguments)
        guard let user = arguments.value(set) else {
            guard quota.isEmpty else {
                throw misuse("--set is missing.", "Name the user with it.")
            }
            return nil
        }
        guard !quota.isEmpty else {
            throw misuse(
                "--set changes nothing without --records or --bytes.",
                "Give a number, none for no limit, or standard for what serve says.")
        }
        return .setQuota(user: user, quota)
    }

    private static func file(ofTokens arguments: Arguments) throws -> URL {
        guard let file = arguments.file(tokenFile) else {
            throw misuse(
                "--token-file is missing.", "Name the file that the tokens are written to.")
        }
        return file
    }

    private static func misuse(_ message: String, _ hint: String) -> CommandError {
        CommandError("usage", message, hint: hint, status: .usage)
    }

    func run(_ console: Console) async throws -> ExitStatus {
        do {
            return try perform(console)
        } catch let error as RecordError {
            // It comes from the file at hand, not from a service on the network.
            throw CommandError(
                error.code.rawValue, error.reason,
                hint: "--data names the folder of `diptych serve`, where records.sqlite is.",
                status: error.code == .tryAgainLater ? .tryAgain : .failed)
        }
    }

    private func perform(_ console: Console) throws -> ExitStatus {
        if case .restore(let backup) = deed {
            let kept = try ServiceRestore(of: backup, in: folder).run()
            console.note(
                "\(backup.path) is the database now; what was there is \(kept?.path ?? "nothing").")
            return .done
        }
        if work == .audit {
            try AuditReport(console).print(AuditLog.entries(in: DataFolder.auditFile(in: folder)))
            return .done
        }
        let service = try ServiceAdministration(
            path: DataFolder.database(in: folder).path, platform: .system,
            audit: DataFolder.audit(in: folder), log: { notice in console.warn(notice.description) }
        )
        let report = ServiceReport(service, console)
        switch (work, deed) {
        case (.backup, .copy(let file)):
            try ParentFolder.require(of: file)
            try service.backUp(to: file.path)
            console.note("The database is copied to \(file.path).")
        case (.containers, .add(let name)):
            try service.accounts.createContainer(name)
            console.note("The container \(name) is there.")
        case (.users, .add(let label)):
            report.print(try service.accounts.createUser(label: label))
        case (.tokens, .revoke(let id)):
            try service.accounts.revoke(tokenID: id)
            console.note("The token \(id) is good for nothing any more.")
        case (.tokens, .issue(let user, let container, let file)):
            try issue(to: user, container, file, service.accounts)
            console.note("The tokens are in \(file.path), for its owner only.")
        case (.quotas, .setQuota(let name, let choice)):
            let holding = try choice.set(of: name, service.accounts)
            console.note("\(holding.user.userRecordName) may keep \(choice.words(holding)).")
        case (.tokens, .issueAdministrator(let label, let file)):
            try checkNew(file)
            let made = try service.accounts.issueAdministratorToken(label: label)
            try PrivateFile.write(made.secret + "\n", to: file)
            console.note("The token is in \(file.path), for its owner only.")
        default:
            try report.list(work.rawValue)
        }
        return .done
    }

    private func checkNew(_ file: URL) throws {
        guard !FileManager.default.fileExists(atPath: file.path) else {
            throw CommandError(
                "fileExists", "\(file.path) is there already, and may hold tokens.",
                hint: "Name another file with --token-file.")
        }
        try ParentFolder.require(of: file)
    }

    private func issue(
        to name: String, _ container: String, _ file: URL, _ accounts: ServiceAccounts
    ) throws {
        try checkNew(file)
        let user = try NamedUser.find(name, among: try accounts.users())
        let label = file.lastPathComponent
        let api = try accounts.issueAPIToken(container: container, label: label)
        let own = try accounts.issueUserToken(userRecordName: user.userRecordName, label: label)
        try TokenFile.write(
            api: api.secret, user: own.secret, container: container, to: file)
    }
}
