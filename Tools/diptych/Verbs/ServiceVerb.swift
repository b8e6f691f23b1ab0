internal import Foundation
internal import Platform
internal import RecordService
internal import RecordWire

/// `diptych service`: who and what a record service knows, and copies of its database.
struct ServiceVerb: Verb {
    private static let data = Option(
        "data", "DIR", setting: true, "the service's data folder, as of serve")
    private static let add = Option("add", "NAME", "containers, users, keys: make this one")
    private static let issue = Option("issue", "USER", "tokens: make tokens for this user")
    private static let container = Option(
        "container", "ID", setting: true, "tokens, keys, roles, schema: the container they are for")
    private static let profile = Option(
        "profile", "USER", "users: change what is known of this one")
    private static let tokenFile = Option(
        "token-file", "FILE", "tokens: where to write what --issue made")
    private static let administrator = Option(
        "administrator", "NAME", "tokens: make one for the console's administrator")
    private static let revoke = Option("revoke", "ID", "tokens, keys: make this one useless")
    private static let revokeAll = Option(
        "revoke-all", "USER", "tokens: make all tokens of this user useless")
    private static let days = Option(
        "days", "N|none", "tokens: how long what --issue makes lasts, until it is renewed (365)")
    private static let set = Option("set", "USER", "quotas: change what this user may keep")

    static let manual = Manual(
        name: "service", summary: "Administers a record service: users, tokens, roles, backups.",
        operands: ["WORK"], optionalOperands: ["FILE"], works: Work.allCases.map(\.rawValue),
        options: [data, RecordPlace.database, add, profile] + UserDetails.options
            + SignInDeed.options
            + [issue, container, tokenFile, days, administrator, revoke, revokeAll]
            + RoleDeed.options
            + SchemaDeed.options + KeyDeed.options + [set] + QuotaChoice.options
            + [RecordPlace.assets] + AssetChoice.options,
        readsSettingsBesideStore: false,
        notes: [
            """
            WORK is one of
              status        what each container holds
              containers    lists containers; --add ID makes one
              users         lists users; --add LABEL makes one, --profile USER changes one,
                            --password USER lets one sign in at the console by password
              tokens        lists tokens, without their secrets; --issue, --administrator with
                            --days; --revoke, --revoke-all
              keys          lists servers' keys; --add NAME with --public-key, --container and
                            --environment registers one; --revoke
              roles         lists what roles may do in the public database of --container, and
                            who has them; --grant, --ungrant, --give, --take
              schema        prints the schema of --container; --environment, --import, --diff,
                            --deploy; --unique, --not-unique; --retire, --keep, --remove
              quotas        lists what users have and may have; --set USER with --records, --bytes
              assets        lists objects in the bucket of --assets that nothing here names, a day
                            old at least, and those that records name and it lacks; --yes removes
                            the former
              audit         lists what was done here, by whom and when
              backup FILE   copies the database to a new FILE, while the service runs
              restore FILE  puts a backup in the database's place; the service must be stopped
            """,
            HelpText.wrapped(
                "All but restore work beside a running service, which knows of changes at once. A "
                    + "user is named by record name or label. After a restore the devices send "
                    + "again what the backup lacks; what was there before is kept beside it. "
                    + "Exit status 4: a container cannot be read, so the backup is without it. "
                    + "PostgreSQL has tools of its own for copies: pg_dump and pg_restore."),
        ],
        examples: [
            ("diptych service users --data records --add Ann", "a further user"),
            (
                "diptych service tokens --data records --issue Ann "
                    + "--container iCloud.local.diptych --token-file ann.tokens",
                "tokens for a device of that user"
            ),
            (
                "diptych service keys --data records --add importer --public-key public.pem "
                    + "--container iCloud.local.diptych --environment production",
                "a program that signs its requests to the public database"
            ),
            (
                "diptych service roles --data records --container iCloud.local.diptych "
                    + "--grant _icloud --type Note --rights create,read",
                "users make and read notes for all; --grant _creator lets them change their own"
            ),
            (
                "diptych service schema --data records --container iCloud.local.diptych --deploy",
                "production has what development has, and takes nothing else from then on"
            ),
            (
                "diptych service schema --data records --container iCloud.local.diptych "
                    + "--unique CD_Book.CD_isbn",
                "no zone takes a second book with an ISBN that one of its books has"
            ),
            (
                "diptych service schema --data records --container iCloud.local.diptych "
                    + "--retire CD_Book.CD_colour --from 2.10",
                "apps of 2.10 and later do not see that field; older ones go on with it"
            ),
            (
                "diptych service quotas --data records --set Ann --records 10000 --bytes none",
                "at most ten thousand records of that user, of any size"
            ),
            (
                "diptych service assets --data records --assets s3://shelf/assets "
                    + "--assets-endpoint https://s3.example.org --assets-keys bucket.keys",
                "what lies in the bucket that nothing of this service names, and what it lacks"
            ),
            ("diptych service backup monday.sqlite --data records", "a copy, at any time"),
        ])

    private enum Work: String, CaseIterable {
        case status, containers, users, tokens, keys, roles, schema, quotas, assets, audit, backup
        case restore
        var takesFile: Bool { self == .backup || self == .restore }
    }

    private enum Deed {
        case list
        case add(String)
        case addUser(String, UserDetails)
        case changeUser(String, UserDetails)
        case password(SignInDeed)
        case roles(RoleDeed, container: String)
        case schema(SchemaDeed, container: String)
        case bucket(BucketDeed)
        case addKey(KeyDeed)
        case issue(user: String, container: String, file: URL, days: Int?)
        case issueAdministrator(label: String, file: URL, days: Int?)
        case revoke(String)
        case revokeAll(user: String)
        case setQuota(user: String, QuotaChoice)
        case copy(URL)
        case restore(URL)
    }

    private let work: Work
    private let deed: Deed
    private let folder: URL
    private let place: RecordPlace

    init(_ arguments: Arguments) throws {
        work = try arguments.work(Work.self)
        folder = arguments.file(Self.data) ?? DataFolder.standard(arguments.environment)
        place = try RecordPlace(arguments, folder: folder)
        deed = try Self.deed(of: work, arguments, folder)
    }

    private static func deed(
        of work: Work, _ arguments: Arguments, _ folder: URL
    ) throws -> Deed {
        let file = arguments.operand(1)
        guard work.takesFile != file.isEmpty else {
            throw misuse(
                file.isEmpty ? "FILE is missing." : "'\(file)' is one word too many.",
                "Write diptych service \(work.rawValue)" + (work.takesFile ? " FILE." : "."))
        }
        try checkOptions(of: work, arguments)
        if work == .roles {
            return .roles(
                try RoleDeed(arguments), container: try arguments.required(container))
        }
        if work == .schema {
            return .schema(
                try SchemaDeed(arguments), container: try arguments.required(container))
        }
        if work == .assets { return .bucket(try BucketDeed(arguments, folder: folder)) }
        if let deed = try SignInDeed(arguments) { return .password(deed) }
        if let name = arguments.value(profile) {
            return .changeUser(name, try UserDetails(arguments))
        }
        if let name = arguments.value(add) {
            if work == .keys {
                return .addKey(
                    try KeyDeed(
                        label: name, container: try arguments.required(container), arguments))
            }
            return work == .users ? .addUser(name, try UserDetails(arguments)) : .add(name)
        }
        if let id = arguments.value(revoke) { return .revoke(id) }
        if let user = arguments.value(revokeAll) { return .revokeAll(user: user) }
        if let deed = try changeOfQuota(arguments) { return deed }
        let life = try TokenDays.read(days, arguments, standard: TokenDays.standard)
        if let label = arguments.value(administrator) {
            return .issueAdministrator(
                label: label, file: try Self.file(ofTokens: arguments),
                days: arguments.has(days) ? life : nil)
        }
        if let user = arguments.value(issue) {
            return .issue(
                user: user, container: try arguments.required(container),
                file: try Self.file(ofTokens: arguments), days: life)
        }
        guard work.takesFile else { return .list }
        let url = URL(fileURLWithPath: file).absoluteURL
        return work == .backup ? .copy(url) : .restore(url)
    }

    /// What a quota is to be; nil where none is to be changed.
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

    private static func checkOptions(of work: Work, _ arguments: Arguments) throws {
        let deeds =
            [add, profile, issue, administrator, revoke, revokeAll, set] + RoleDeed.deeds
            + SchemaDeed.deeds + SignInDeed.deeds
        let given = deeds.filter { arguments.has($0) }
        let ofRoles = [RoleDeed.type, RoleDeed.rights, RoleDeed.user]
        let details =
            ([days] + UserDetails.options + ofRoles + QuotaChoice.options + KeyDeed.options
            + SignInDeed.details + SchemaDeed.details)
            .filter { arguments.has($0) }
        let fitting: [Option] =
            switch work {
            case .containers: [add]
            case .users: [add, profile] + UserDetails.options + SignInDeed.options
            case .tokens: [issue, administrator, revoke, revokeAll, days]
            case .keys: [add, revoke] + KeyDeed.options
            case .roles: RoleDeed.options
            case .schema: SchemaDeed.options
            case .quotas: [set] + QuotaChoice.options
            case .assets: [SchemaDeed.yes]
            case .status, .audit, .backup, .restore: []
            }
        let strange = (given + details).first { option in
            !fitting.contains { $0.name == option.name }
        }
        guard let wrong = strange ?? (given.count > 1 ? given[0] : nil) else { return }
        throw misuse(
            "--\(wrong.name) does not go with \(work.rawValue), or not with another.",
            "`diptych service --help` tells which option belongs to which work.")
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

    var stopsWhenCancelled: Bool { work == .backup }

    func run(_ console: Console) async throws -> ExitStatus {
        do {
            return try perform(console)
        } catch let error as RecordError {
            // Only a bucket and a database far away may fail after they were opened.
            let isPlace = error.code == .tryAgainLater || error.code == .internalError
            throw failure(error, hint: work == .assets || isPlace ? hint : nil)
        }
    }

    /// It comes from the file at hand, not from a service on the network.
    private func failure(_ error: RecordError, hint: String?) -> CommandError {
        var failure = CommandFailure.own(error)
        if let hint { failure = CommandError(error.code.rawValue, error.reason, hint: hint) }
        failure.status = error.code == .tryAgainLater ? .tryAgain : .failed
        return failure
    }

    /// Throws with words about its place where it cannot be opened.
    private func administration(_ console: Console) throws -> ServiceAdministration {
        do {
            return try place.administration(audit: DataFolder.audit(in: folder)) { notice in
                console.warn(notice.description)
            }
        } catch {
            throw failure(error, hint: hint)
        }
    }

    private var hint: String {
        if work == .assets {
            return "--assets and what belongs to it are those of `diptych serve`; listing needs a "
                + "permission of its own (ListBucket)."
        }
        guard case .postgres = place else {
            return "--data names the folder of `diptych serve`, where records.sqlite is."
        }
        return "--database is the address that `diptych serve` has; a password belongs into "
            + "PGPASSFILE."
    }

    private func perform(_ console: Console) throws -> ExitStatus {
        if case .restore(let backup) = deed {
            if case .postgres = place { throw ServiceAdministration.ownTools }
            return try restore(backup, console)
        }
        if work == .audit {
            try AuditReport(console).print(AuditLog.entries(in: DataFolder.auditFile(in: folder)))
            return .done
        }
        let service = try administration(console)
        let report = ServiceReport(service, console)
        switch (work, deed) {
        case (.backup, .copy(let file)):
            try backUp(service, to: file, console)
        case (.containers, .add(let name)):
            try service.accounts.createContainer(name)
            console.did("The container \(name) is there.", ["name": .string(name)])
        case (.users, .addUser(let label, let details)):
            try report.print(
                service.accounts.createUser(label: label, profile: details.profile()))
        case (.users, .changeUser(let name, let details)):
            let user = try service.accounts.user(called: name)
            try details.save(of: user, service.accounts)
            try report.print(user)
        case (.users, .password(let deed)):
            try deed.perform(service.accounts, console)
        case (.roles, .roles(let deed, let container)):
            try deed.perform(in: container, service.accounts, report, console)
        case (.schema, .schema(let deed, let container)):
            return try deed.perform(in: container, service.accounts, console)
        case (.assets, .bucket(let deed)):
            try deed.perform(service, console)
        case (.keys, .addKey(let deed)):
            try deed.perform(service.accounts, report)
        case (.keys, .revoke(let id)):
            try service.accounts.revoke(serverKeyID: id)
            console.did("The key \(id) is good for nothing any more.", ["revoked": .string(id)])
        case (.tokens, .revoke(let id)):
            try service.accounts.revoke(tokenID: id)
            console.did("The token \(id) is good for nothing any more.", ["revoked": .string(id)])
        case (.tokens, .revokeAll(let name)):
            let user = try service.accounts.user(called: name)
            let count = try service.accounts.revokeTokens(of: user.userRecordName)
            console.did(
                "\(count) token\(count == 1 ? "" : "s") ended.",
                ["userRecordName": .string(user.userRecordName), "revoked": JSON(count)])
        case (.tokens, .issue(let user, let container, let file, let days)):
            try issue(to: user, container, file, days, service.accounts)
            console.did(
                "The tokens are in \(file.path), for its owner only.",
                ["tokenFile": .string(file.path)])
        case (.quotas, .setQuota(let name, let choice)):
            report.print(try choice.set(of: name, service.accounts), choice)
        case (.tokens, .issueAdministrator(let label, let file, let days)):
            try checkNew(file)
            let made = try service.accounts.issueAdministratorToken(label: label, days: days)
            try PrivateFile.write(made.secret + "\n", to: file)
            console.did(
                "The token is in \(file.path), for its owner only.",
                ["tokenFile": .string(file.path)])
        default:
            try report.list(work.rawValue)
        }
        return .done
    }

    private func backUp(
        _ service: ServiceAdministration, to file: URL, _ console: Console
    ) throws {
        if case .file = place { try ParentFolder.require(of: file) }
        let lacking = try service.backUp(to: file.path)
        console.did(
            "The database is copied to \(file.path).",
            ["backup": .string(file.path), "lacking": .array(lacking.map(JSON.string))])
        if !lacking.isEmpty { throw Self.incomplete(file, lacking) }
    }

    private func restore(_ backup: URL, _ console: Console) throws -> ExitStatus {
        let (kept, lacking) = try ServiceRestore(of: backup, in: folder).run()
        console.did(
            "\(backup.path) is the database now; what was there is \(kept?.path ?? "nothing").",
            [
                "restored": .string(backup.path), "before": JSON(kept?.path),
                "lacking": .array(lacking.map(JSON.string)),
            ])
        guard !lacking.isEmpty else { return .done }
        console.warn(
            "the backup lacks \(Self.spelled(lacking)), which could not be read when it was "
                + "made; requests for that are refused until its file is in the folder "
                + "records.sqlite.containers, from another backup or from what was there")
        return .incomplete
    }

    private static func incomplete(_ file: URL, _ lacking: [String]) -> CommandError {
        CommandError(
            "incompleteBackup",
            "The backup \(file.path) lacks \(spelled(lacking)), which cannot be read; all else is "
                + "in it.",
            hint: "Put the container's file of an earlier backup in its place, then back up again.",
            status: .incomplete)
    }

    private static func spelled(_ containers: [String]) -> String {
        let word = containers.count == 1 ? "the container" : "the containers"
        return "\(word) \(containers.joined(separator: ", "))"
    }

    private func checkNew(_ file: URL) throws {
        guard !PrivateFile.isTaken(file) else {
            throw CommandError(
                "fileExists", "\(file.path) is there already, and may hold tokens.",
                hint: "Name another file with --token-file.")
        }
        try ParentFolder.require(of: file)
        // A token that was made and is in no file is good for nobody, and lasts.
        try PrivateFile.requireRoom(for: file)
    }

    private func issue(
        to name: String, _ container: String, _ file: URL, _ days: Int?,
        _ accounts: ServiceAccounts
    ) throws {
        try checkNew(file)
        let user = try accounts.user(called: name)
        let label = file.lastPathComponent
        let made = try accounts.issueDeviceTokens(
            container: container, userRecordName: user.userRecordName, label: label, days: days)
        try TokenFile.write(
            api: made.api.secret, user: made.user.secret, container: container, to: file)
    }
}
