internal import Foundation
internal import MirrorEngine

/// Writes steps as a story has them: reading gives the same step again.
enum StoryWriting {
    static func text(of action: StoryAction) -> String {
        switch action {
        case .device(let names, let deed):
            "\(names.joined(separator: " and ")) \(text(of: deed))"
        case .everyoneSyncs: "everyone syncs"
        case .everyoneSettles: "everyone settles"
        case .service(let deed): text(of: deed)
        case .pass(let seconds): "\(number(seconds)) seconds pass"
        case .expect(let expectation): text(of: expectation)
        }
    }

    private static func text(of deed: StoryServiceDeed) -> String {
        switch deed {
        case .backUp: "the service is backed up"
        case .restore: "the service is restored"
        case .lose: "the service is lost"
        case .deleteZone: "the zone is deleted"
        }
    }

    private static func text(of deed: StoryDeed) -> String {
        switch deed {
        case .insert(let entity, let handle, let values):
            "inserts \(entity) \(handle)"
                + (values.isEmpty
                    ? ""
                    : " with "
                        + values.map { "\($0.property) \(text(of: $0.value))" }
                        .joined(separator: ", "))
        case .set(let property, .nothing): "clears \(property.text)"
        case .set(let property, let value): "sets \(property.text) to \(text(of: value))"
        case .add(let values, let property):
            "adds \(values.map(text).joined(separator: ", ")) to \(property.text)"
        case .remove(let members, let property):
            "removes \(members.joined(separator: ", ")) from \(property.text)"
        case .move(let handle, let place, let property):
            "moves \(handle) \(text(of: place, property))"
        case .delete(let handle): "deletes \(handle)"
        case .takeBackDeletion(let handle): "takes back the deletion of \(handle)"
        case .becomeCopy(let other): "becomes a copy of \(other)"
        case .open(let model): "opens model \(model)"
        case .decide(let property, let side): "takes \(side.rawValue) for \(property.text)"
        case .setClock(let seconds):
            "sets the clock \(number(abs(seconds))) seconds \(seconds < 0 ? "behind" : "ahead")"
        case .sharing(let sharing): text(of: sharing)
        case .choose(let choices):
            "chooses " + (choices.isEmpty ? everything : choices.map(text).joined(separator: ", "))
        default: plain(deed)
        }
    }

    static let everything = "everything"

    private static func text(of choice: StoryChoice) -> String {
        choice.entity + (choice.predicate.map { " where \(quoted($0))" } ?? "")
    }

    private static func text(of sharing: StorySharing) -> String {
        switch sharing {
        case .share(let handles, let name):
            "shares \(handles.isEmpty ? everything : handles.joined(separator: ", ")) as \(name)"
        case .invite(let user, let name, let mayWrite):
            "invites \(user) to \(name)" + (mayWrite ? "" : " for reading")
        case .revoke(let name, let user): "revokes \(name) from \(user)"
        case .accept(let name): "accepts \(name)"
        case .leave(let name): "leaves \(name)"
        case .end(let name): "ends \(name)"
        }
    }

    private static func plain(_ deed: StoryDeed) -> String {
        switch deed {
        case .begin: "begins"
        case .save: "saves"
        case .undo: "undoes"
        case .takeBack: "takes back"
        case .goOffline: "goes offline"
        case .comeOnline: "comes online"
        case .loseNextRequest: "loses the next request"
        case .loseNextAnswer: "loses the next answer"
        case .crash: "crashes"
        case .crashInNextSync: "crashes in the next sync"
        case .backUp: "is backed up"
        case .restore: "is restored"
        case .reset: "resets"
        default: "syncs"
        }
    }

    private static func text(of place: StoryPlace, _ property: StoryProperty) -> String {
        switch place {
        case .start: "to the start of \(property.text)"
        case .end: "to the end of \(property.text)"
        case .before(let other): "before \(other) in \(property.text)"
        case .after(let other): "after \(other) in \(property.text)"
        }
    }

    static func text(of literal: StoryLiteral) -> String {
        switch literal {
        case .nothing: "nothing"
        case .word(let word): word
        case .text(let text): quoted(text)
        }
    }

    static func quoted(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n").replacing("\t", with: "\\t")
        return "\"\(escaped)\""
    }

    /// A number without a fraction where it has none.
    static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    }

    private static func text(of expectation: StoryExpectation) -> String {
        let under = expectation.rule.map { "under \($0) " } ?? ""
        let names = expectation.holders.map { $0 == StoryExpectation.service ? "the service" : $0 }
        let place = names.isEmpty ? "" : " on " + names.joined(separator: " and ")
        return "\(under)expect \(text(of: expectation.fact))\(place)"
    }

    private static func text(of fact: StoryExpectation.Fact) -> String {
        switch fact {
        case .value(let property, let values):
            "\(property.text) is \(values.map(text).joined(separator: ", "))"
        case .isThere(let handles): "\(handles.joined(separator: ", ")) is there"
        case .isGone(let handles): "\(handles.joined(separator: ", ")) is gone"
        case .isOne(let one, let other): "\(one) and \(other) are one"
        case .count(let count, let entity): "\(count) \(entity)"
        case .agreement: "everyone agrees"
        case .inSync(let names, let isIn):
            "\(names.first ?? "everyone") is \(isIn ? "" : "not ")in sync"
        case .logged(let property, let handle, let rule):
            "\(property?.text ?? handle ?? "") was logged" + (rule.map { " by \($0)" } ?? "")
        case .nothingLogged: "nothing was logged"
        case .waits(let property): "\(property.text) waits"
        case .refused: "it was refused"
        case .told(let words): "it told \(quoted(words))"
        }
    }
}
