import ChildProcesses
import Foundation
import Testing

/// Users who sign in at the console by password, as an administrator sets it.
@Suite struct PasswordVerbTests {
    private let workshop: Workshop
    private let service: TestService

    init() throws {
        workshop = try Workshop()
        service = try workshop.service("--console", "on")
    }

    private func ask(_ words: String..., input: String? = nil) throws -> Run {
        try workshop.run(
            ["service", "users"] + words + ["--data", service.text("dataFolder")], input: input)
    }

    private func signIn(_ password: String) throws -> String {
        let child = try workshop.start(
            "/usr/bin/env",
            [
                "curl", "-sS", "--cacert", service.text("caFile"), "-o", "/dev/null", "-w",
                "%{http_code}", "-X", "POST", "--data",
                #"{"name":"Ann","password":"\#(password)"}"#,
                "\(service.text("url"))/console/api/session",
            ])
        #expect(child.wait() == 0, "\(child.complaint)")
        return child.printed
    }

    @Test func aPasswordComesFromAFileOrStandardInput() throws {
        #expect(try ask("--add", "Ann").status == 0)
        let set = try ask("--password", "Ann", "--password-file", "-", input: "correct horse\n")
        #expect(set.status == 0 && set.output.contains("as Ann"), "\(set.complaint)")
        #expect(try signIn("correct horse") == "200")
        #expect(try signIn("wrong horse") == "401")
        let dos = try workshop.write("battery charger\r\nrest", to: "dos")
        #expect(try ask("--password", "Ann", "--password-file", dos).status == 0)
        #expect(try signIn("battery charger") == "200")
        let file = try workshop.write("battery staple\nrest", to: "password")
        #expect(try ask("--password", "Ann", "--password-file", file).status == 0)
        #expect(try signIn("correct horse") == "401")
        #expect(try signIn("battery staple") == "200")
        #expect(try ask().output.contains("SIGNS IN AS"))
        let log = try workshop.run(
            "service", "audit", "--json", "--data", service.text("dataFolder"))
        #expect(log.output.contains("passwordChanged") && !log.output.contains("battery"))
        #expect(try ask("--no-password", "Ann").status == 0)
        #expect(try signIn("battery staple") == "401")
        #expect(try ask("--no-password", "Ann").status == 1)
    }

    @Test func whatIsNoPasswordIsRefused() throws {
        let short = try ask("--password", "owner", "--password-file", "-", input: "short\n")
        #expect(short.status == 1 && short.complaint.contains("8 to 1,024 bytes"))
        #expect(try ask("--password", "owner", "--password-file", "-", input: "").status == 1)
        #expect(try ask("--password-file", "-", input: "correct horse\n").status == 2)
        #expect(
            try ask("--password", "nobody", "--password-file", "-", input: "correct horse\n").status
                == 1)
    }
}
