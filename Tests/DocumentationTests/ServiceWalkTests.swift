import Foundation
import MirrorTransport
import Testing

/// What docs/SERVICE.md asks of a service with curl is answered as shown.
@Suite(.enabled(if: BuiltCommand.hasCurl, "there is no curl"))
struct ServiceWalkTests {
    @Test func theServiceAnswersAsShown() throws {
        let service = try LocalService()
        let records = service.folder.appendingPathComponent("records")
        let folder = records.appendingPathComponent("tls")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: #require(service.authority), to: folder.appendingPathComponent("authority.pem"))
        let credentials = service.credentials
        func write(_ userToken: String?, to file: URL) throws {
            let tokens = ["api: \(credentials.apiToken)", "user: \(userToken ?? "")", ""]
            try Data(tokens.joined(separator: "\n").utf8).write(to: file)
        }
        try write(
            credentials.userToken,
            to: records.appendingPathComponent("iCloud.local.diptych.tokens"))
        try write(
            service.tokenOfAnother(), to: service.folder.appendingPathComponent("bea.tokens"))

        let steps = try TutorialTests.steps(of: "docs/SERVICE.md")
        let shown = steps.flatMap(\.output)
        #expect(shown.count > 2)
        let port = try #require(service.url.port)
        let script = steps.map(\.command).joined(separator: "\n")
            .replacing("127.0.0.1:8443", with: "127.0.0.1:\(port)")
        let found = try BuiltCommand.run(script, in: service.folder).text
            .split(separator: "\n").map(String.init)
        #expect(
            TutorialTests.matches(found, shown),
            """
            docs/SERVICE.md shows
            \(shown.joined(separator: "\n"))
            but the service says
            \(found.joined(separator: "\n"))
            """)
    }
}
