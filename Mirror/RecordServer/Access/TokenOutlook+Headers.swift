internal import Foundation
package import RecordService

extension TokenOutlook {
    static let endHeader = "X-Diptych-Token-Expires"

    /// When the shown token ends, and what is to be shown from now on.
    package func tell(in headers: inout HTTPHeaders) {
        let end = Date(timeIntervalSince1970: Double(expiresAt) / 1_000)
        headers.append(Self.endHeader, ISO8601DateFormatter().string(from: end))
        if let next { headers.append(TokenRotation.header, next) }
    }
}
