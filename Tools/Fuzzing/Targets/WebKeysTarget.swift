internal import Foundation
internal import RecordService
internal import RecordWire

/// What comes from a provider of OpenID Connect: a line with its keys (JWKS), then the token (JWT)
/// that one of them signed.
enum WebKeysTarget {
    static func believe(_ data: Data) throws {
        let parts = data.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
        let keys = try WebKeys(json: Data(parts.first ?? Data()))
        var token = String(decoding: parts.count > 1 ? parts[1] : Data(), as: UTF8.self)
        while token.last?.isNewline == true { token.removeLast() }
        _ = try ProviderClaims(
            token: token, keys: keys, issuer: "https://id.example.org", client: "records",
            nonce: "nonce", now: FuzzedService.moment)
    }
}
