internal import MirrorEngine

/// `diptych reset`: forgets the service, and keeps everything else.
struct Reset: Verb {
    static let manual = Manual(
        name: "reset", summary: "Forgets a store's service, to sync anew or with another.",
        operands: ["STORE"], options: [.model, .zone],
        notes: [
            HelpText.wrapped(
                "Tokens, tags and the tie to the service are forgotten; objects, records' names, "
                    + "edits and deletions that wait are kept. The next sync reads the whole zone, "
                    + "merges it with what is here, and sends what the service lacks: nothing "
                    + "twice, and nothing lost. What others deleted meanwhile may come back. "
                    + "The store is of no database then, and the next sync may name another one "
                    + "(--database-scope); one that took part in a share stays one for shares. "
                    + "Settings in diptych.conf stay; name another service there or by --service.")
        ],
        examples: [
            ("diptych reset Library.sqlite", "the next sync starts over"),
            (
                "diptych reset Library.sqlite && diptych sync Library.sqlite --service "
                    + "https://127.0.0.1:9443 \\\n      --container iCloud.local.other "
                    + "--token-file other.tokens --remember",
                "move to another service"
            ),
            (
                "diptych reset Library.sqlite && diptych sync Library.sqlite --database-scope "
                    + "public --remember",
                "give all its objects to the public database"
            ),
        ])

    private let access: StoreAccess
    private let zone: ZoneChoice

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        // One that is to have another zone from now on is called with that.
        zone = try ZoneChoice(ofStoreBy: arguments, whateverIsNamed: true)
    }

    func run(_ console: Console) async throws -> ExitStatus {
        let mirrored = try access.openMirrored(zone: zone)
        // A reset is also for tables that cannot be read.
        let former = try? mirrored.status()?.container
        let wasMirrored = try mirrored.reset()
        let waiting = try mirrored.status()?.pending.total ?? 0
        if console.isJSON {
            console.emit([
                "reset": .bool(wasMirrored), "service": JSON(former), "waiting": JSON(waiting),
            ])
        } else if wasMirrored {
            console.note(
                "\(access.name) is tied to no service now; "
                    + "\(Figure.count(waiting, "record")) will be compared with the next sync.")
        } else {
            console.note("\(access.name) was never synced, so there is nothing to forget.")
        }
        return .done
    }
}
