internal import Foundation
internal import RecordServer
internal import RecordWire

/// What the page sends.
struct SignInWish: Decodable {
    /// Or a name and its password.
    var token: String?
    var name: String?
    var password: String?
}

struct PasswordWish: Decodable {
    var former: String
    var password: String
}

struct ContainerWish: Decodable {
    var name: String
}

struct UserWish: Decodable {
    var label: String
}

struct TokenWish: Decodable {
    /// nil: for an administrator.
    var user: String?
    var container: String?
    var label: String
}

extension HTTPRequest {
    static let wishBytesMax = 64 << 10

    /// The body, read. Throws BAD_REQUEST.
    func wish<Wish: Decodable>(bytesMax: Int = wishBytesMax) throws(RecordError) -> Wish {
        guard case .bytes(let body) = body, body.count <= bytesMax,
            let wish = try? JSONDecoder().decode(Wish.self, from: body)
        else {
            throw RecordError(
                .badRequest, "The request is not what this path takes; docs/CONSOLE.md says what.")
        }
        return wish
    }
}
