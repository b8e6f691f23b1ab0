internal import MirrorEngine

/// Tells what came back, and what is to be done about it.
struct RestoreReport {
    private let titles: RecordTitles
    private let invocation: Invocation
    private let console: Console

    init(_ mirrored: MirroredStore, _ invocation: Invocation, _ console: Console) {
        titles = RecordTitles(mirrored)
        self.invocation = invocation
        self.console = console
    }

    func tell(_ outcome: RestoreChoice.Outcome, _ choice: RestoreChoice) {
        for object in outcome.objects { tell(object, choice) }
        for edit in outcome.edits { tell(edit) }
        if outcome.objects.isEmpty, outcome.edits.isEmpty, !console.isJSON {
            console.note("The service refused no deletion and no edit.")
        }
    }

    private func tell(_ edit: RestoredEdit) {
        let title = titles.title(of: edit.row)
        guard !console.isJSON else {
            return console.emit([
                "restored": .string(edit.recordName), "object": .string(title),
                "way": .string("tookBackEdit"),
                "staying": .array(edit.staying.map { .string($0) }),
            ])
        }
        let staying = edit.staying.joined(separator: ", ")
        let stays = staying.isEmpty ? "" : ", but for \(staying), whose value there is not here"
        let log = invocation.line(calling: Conflicts.manual)
        console.note(
            "\(title) is as the service has it\(stays); what you had is in the log: `\(log)`")
    }

    private func tell(_ object: RestoredObject, _ choice: RestoreChoice) {
        guard !console.isJSON else {
            return console.emit([
                "restored": .string(object.recordName),
                "object": .string(titles.title(of: object.row)),
                "linksLost": JSON(object.linksLost), "way": .string(way(of: object)),
            ])
        }
        console.note(sentence(object, choice))
    }

    private func way(of object: RestoredObject) -> String {
        switch object.way {
        case .madeAnew: "madeAnew"
        case .tookBackDeletion: "tookBackDeletion"
        case .comesWithNextRound: "comesWithNextRound"
        }
    }

    private func sentence(_ object: RestoredObject, _ choice: RestoreChoice) -> String {
        let next = invocation.line(calling: Sync.manual)
        let links =
            object.linksLost == 0
            ? "with its links" : "without \(object.linksLost) of its links"
        var subject = titles.title(of: object.row)
        if case .conflict(let id) = choice { subject = "The object of conflict \(id)" }
        return switch object.way {
        case .madeAnew: "\(subject) is there again, \(links); the next sync sends it: `\(next)`"
        case .tookBackDeletion:
            "\(subject) is there again, \(links), as the service has it; nothing is sent."
        case .comesWithNextRound:
            "\(subject) has large values, and comes with the next sync: `\(next)`"
        }
    }
}
