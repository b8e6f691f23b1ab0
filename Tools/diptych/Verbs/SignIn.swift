internal import Foundation
internal import MirrorTransport
internal import RecordWire

/// `diptych sign-in`: tokens for this machine, let in by a person on another screen.
struct SignIn: Verb {
    private static let name = Option(
        "name", "TEXT", "what this device calls itself; the machine's name without")

    private static let renew = Option(
        "renew", nil, "get the next text for the token that --token-file has, in time")

    static let manual = Manual(
        name: "sign-in", summary: "Gets tokens from a service whose user lets this device in.",
        options: [
            MirrorOptions.service, MirrorOptions.container, MirrorOptions.tokenFile,
            MirrorOptions.authorityFile, name, renew, ServiceChannel.insecure,
        ],
        readsSettingsBesideStore: false,
        notes: [
            HelpText.wrapped(
                "Prints an address and a code. Whoever is signed in at the service's console opens "
                    + "the address, on any machine, and types the code; then the tokens are "
                    + "written into a new file that only its owner can read. The service must run "
                    + "with --console on. The code is good for ten minutes."),
            HelpText.wrapped(
                "Tokens end, after a year unless the service says otherwise. With --renew the file "
                    + "gets the token's next text, which the service has for it in the last third "
                    + "of its life, and not before. `diptych sync` does so by itself; run --renew "
                    + "once in a while for a file that only an app reads. Whoever reads the file "
                    + "from then on shows the new text; the former one is good for an hour more."),
        ],
        examples: [
            (
                "diptych sign-in --service https://shelf.example.org:8443 "
                    + "--container iCloud.org.example.notes --token-file notes.tokens",
                "then diptych sync STORE with the same three"
            ),
            (
                "diptych sign-in --renew --service https://shelf.example.org:8443 "
                    + "--container iCloud.org.example.notes --token-file notes.tokens",
                "once a month, so that the device stays signed in"
            ),
        ])

    private let service: URL
    private let container: String
    private let file: URL
    private let label: String
    private let limits: CurlLimits
    private let renews: Bool
    /// How many intervals of the service lie between two requests at most.
    private static let pausesMax = 6

    init(_ arguments: Arguments) throws {
        service = try ServiceChannel.address(arguments)
        container = try arguments.required(MirrorOptions.container)
        _ = try arguments.required(MirrorOptions.tokenFile)
        file = arguments.file(MirrorOptions.tokenFile) ?? URL(fileURLWithPath: "tokens")
        label = arguments.value(Self.name) ?? ProcessInfo.processInfo.hostName
        var limits = CurlLimits()
        limits.authorityFile = try ServiceChannel.authority(arguments)
        self.limits = limits
        renews = arguments.has(Self.renew)
    }

    struct Codes: Decodable {
        var deviceCode: String
        var userCode: String
        var path: String
        var expiresInSeconds: Int
        var intervalSeconds: Int

        /// What no service asks for in earnest is not kept to.
        var bounded: Codes {
            var codes = self
            codes.expiresInSeconds = min(max(expiresInSeconds, 0), 86_400)
            codes.intervalSeconds = min(max(intervalSeconds, 1), 3_600)
            return codes
        }
    }

    private struct Outcome: Decodable {
        var state: String
        var api: String?
        var user: String?
    }

    func run(_ console: Console) async throws -> ExitStatus {
        if renews {
            try TokenRenewal(
                service: service, container: container, file: file, limits: limits
            ).run(console)
            return .done
        }
        guard !PrivateFile.isTaken(file) else {
            throw CommandError(
                "fileExists", "\(file.path) is there already, and may hold tokens.",
                hint: "Name another file with --token-file.")
        }
        try ParentFolder.require(of: file)
        try PrivateFile.requireRoom(for: file)
        let handle = try CurlHandle(limits: limits)
        let told: Codes = try ask(handle, "", ["container": container, "label": label])
        let codes = told.bounded
        tell(codes, console)
        let tokens = try await tokens(for: codes, handle)
        try TokenFile.write(
            api: tokens.api, user: tokens.user, container: container, to: file)
        console.did(
            "The tokens are in \(file.path), for its owner only.",
            ["tokenFile": .string(file.path)])
        return .done
    }

    /// Asks until somebody has decided or the code's time is over. A request that is lost, or that
    /// the service has no time for, is asked again, after twice the pause. (RFC 8628 §3.5)
    private func tokens(
        for codes: Codes, _ handle: CurlHandle
    ) async throws -> (api: String, user: String) {
        let end = ContinuousClock.now + .seconds(codes.expiresInSeconds)
        var pause = codes.intervalSeconds
        var lost: (any Error)?
        while ContinuousClock.now < end {
            try await Task.sleep(for: .seconds(pause))
            do {
                let outcome: Outcome = try ask(handle, "/token", ["deviceCode": codes.deviceCode])
                (lost, pause) = (nil, codes.intervalSeconds)
                switch (outcome.state, outcome.api, outcome.user) {
                case ("waiting", _, _): continue
                case ("approved", let api?, let user?): return (api, user)
                default:
                    throw CommandError(
                        "refused", "The device was refused.",
                        hint: "Ask whoever saw the code, and begin anew.")
                }
            } catch let error where CommandFailure.describe(error).status == .tryAgain {
                lost = error
                pause = min(pause * 2, codes.intervalSeconds * Self.pausesMax)
            }
        }
        if let lost { throw lost }
        throw CommandError(
            "tooLate", "Nobody typed the code in time.", hint: "Begin anew for another code.",
            status: .tryAgain)
    }

    private func tell(_ codes: Codes, _ console: Console) {
        let address = service.absoluteString + codes.path
        if console.isJSON {
            console.emit([
                "event": "code", "address": .string(address), "code": .string(codes.userCode),
                "expiresInSeconds": JSON(codes.expiresInSeconds),
            ])
        } else {
            console.line("Open \(address)")
            console.line("and type \(codes.userCode)")
        }
    }

    private func ask<Answer: Decodable>(
        _ handle: CurlHandle, _ path: String, _ wish: [String: String]
    ) throws -> Answer {
        let call = CurlCall(
            method: "POST", url: service.absoluteString + "/console/api/device" + path,
            headers: [("Content-Type", "application/json")],
            body: try JSONEncoder().encode(wish))
        let answer = try handle.answer(to: call)
        if answer.status == 200,
            let read = try? JSONDecoder().decode(Answer.self, from: answer.body)
        {
            return read
        }
        let error = try? WireCodec.decodeError(answer.body)
        // What stands before the service, as a proxy, has no words of the service's.
        let isTransient = error?.code.isTransient ?? (502...504).contains(answer.status)
        throw CommandError(
            error?.code.rawValue ?? "badAnswer",
            error?.reason ?? "The service does not answer as one that lets devices in.",
            hint: "The service must run with --console on, and have the container.",
            status: isTransient ? .tryAgain : .failed)
    }
}

extension CurlHandle {
    /// The answer of a service that is asked for tokens. Throws `CommandError`.
    func answer(to call: CurlCall) throws -> CurlAnswer {
        do {
            return try perform(call)
        } catch let error as TransportError {
            throw CommandFailure.unanswered(error)
        }
    }
}
