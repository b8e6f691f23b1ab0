internal import Foundation
internal import Platform
internal import RecordServer
internal import RecordWire

/// What the page or a program sends. A member that is not known is refused, for it may be a known
/// one misspelled: a token without its `user` is an administrator's.
protocol Wish: Decodable {
    associatedtype CodingKeys: CodingKey & CaseIterable
}

struct SignInWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case token, name, password }

    /// Or a name and its password.
    var token: String?
    var name: String?
    var password: String?
}

struct PasswordWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case former, password }

    var former: String
    var password: String
}

struct ContainerWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case name }

    var name: String
}

struct UserWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case label }

    var label: String
}

struct TokenWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case user, container, label, days }

    /// nil: for an administrator.
    var user: String?
    var container: String?
    var label: String
    /// How long it lasts; nil: as the service is set, 0: without an end.
    var days: Int?
}

/// The names of an object's members.
private struct MemberNames: Decodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    let names: [String]

    init(from decoder: any Decoder) throws {
        names = try decoder.container(keyedBy: Key.self).allKeys.map(\.stringValue)
    }
}

extension HTTPRequest {
    static let wishBytesMax = 64 << 10
    private static let shownNameMax = 40

    /// The body, read. Throws BAD_REQUEST.
    func wish<Asked: Wish>(bytesMax: Int = wishBytesMax) throws(RecordError) -> Asked {
        guard case .bytes(let body) = body, body.count <= bytesMax else { throw Self.unreadable }
        let known = Asked.CodingKeys.allCases.map(\.stringValue)
        let given = (try? JSONDecoder().decode(MemberNames.self, from: body))?.names ?? []
        if let strange = given.filter({ !known.contains($0) }).min() {
            let name = DebugSwitch.escaped(String(strange.prefix(Self.shownNameMax)))
            throw RecordError(
                .badRequest,
                "This path takes no '\(name)'; it takes \(known.joined(separator: ", ")).")
        }
        guard let wish = try? JSONDecoder().decode(Asked.self, from: body) else {
            throw Self.unreadable
        }
        return wish
    }

    private static let unreadable = RecordError(
        .badRequest, "The request is not what this path takes; docs/CONSOLE.md says what.")
}
