internal import Foundation
internal import RecordServer
internal import RecordService
internal import RecordWire

/// Devices that are let in on another screen.
extension ConsoleDesk {
    private static let labelBytesMax = 200

    /// A device begins, and learns the code that a person is to type.
    func beginDevice(_ request: HTTPRequest) throws -> HTTPResponse {
        let wish: DeviceWish = try request.wish()
        guard (1...Self.labelBytesMax).contains(wish.label.utf8.count),
            ServiceAccounts.isReadable(wish.label)
        else {
            throw RecordError(
                .badRequest, "A device calls itself by 1 to 200 bytes, and none that do not show.")
        }
        guard try service.accounts.containers().contains(wish.container) else {
            throw RecordError(.notFound, "This service has no container of that name.")
        }
        let (deviceCode, userCode) = try devices.begin(
            DeviceSignIns.Wish(container: wish.container, label: wish.label),
            from: request.address)
        return try .json(
            of: DeviceCodes(
                deviceCode: deviceCode, userCode: "\(userCode.prefix(4))-\(userCode.suffix(4))",
                path: "/console#/device", expiresInSeconds: DeviceSignIns.lifeSeconds,
                intervalSeconds: DeviceSignIns.pauseSeconds))
    }

    /// What became of a device; its tokens, once somebody let it in.
    func deviceOutcome(_ request: HTTPRequest) throws -> HTTPResponse {
        let wish: DeviceCodeWish = try request.wish()
        let outcome = try devices.collect(wish.deviceCode) { device, outcome in
            switch outcome {
            case .waiting: DeviceOutcome(state: "waiting")
            case .refused: DeviceOutcome(state: "refused")
            case .approved(let user, let actor): try tokens(of: device, for: user, by: actor)
            }
        }
        return try .json(of: outcome)
    }

    private func tokens(
        of device: DeviceSignIns.Wish, for user: String, by actor: String
    ) throws(RecordError) -> DeviceOutcome {
        let made = try service.accounts.acting(as: actor).issueDeviceTokens(
            container: device.container, userRecordName: user, label: device.label,
            days: service.limits.retention.userTokenDays)
        return DeviceOutcome(state: "approved", api: made.api.secret, user: made.user.secret)
    }

    /// Tells who is to decide what the device calls itself.
    func lookAtDevice(_ session: ConsoleSession, _ request: HTTPRequest) throws -> HTTPResponse {
        let wish: UserCodeWish = try request.wish()
        let device = try devices.wish(wish.userCode, guesser: session.user)
        return try .json(of: DeviceAnswer(container: device.container, label: device.label))
    }

    /// A user lets a device in as oneself, an administrator as the user who is named.
    func settleDevice(_ session: ConsoleSession, _ request: HTTPRequest) throws -> HTTPResponse {
        let wish: ApprovalWish = try request.wish()
        var user: String?
        if wish.approves {
            user = session.bearer.userRecordName ?? wish.user
            guard let user,
                try service.accounts.users().contains(where: { $0.userRecordName == user })
            else {
                throw RecordError(.badRequest, "Name the user as whom the device is let in.")
            }
        }
        try devices.settle(
            wish.userCode, user: user, guesser: session.user, actor: session.actor)
        return .json(Data("{}".utf8))
    }
}

struct DeviceWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case container, label }

    var container: String
    var label: String
}

struct DeviceCodeWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case deviceCode }

    var deviceCode: String
}

struct UserCodeWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case userCode }

    var userCode: String
}

struct ApprovalWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case userCode, approves, user }

    var userCode: String
    var approves: Bool
    var user: String?
}

struct DeviceCodes: Encodable {
    var deviceCode: String
    var userCode: String
    /// Where the code is typed, behind the service's address.
    var path: String
    var expiresInSeconds: Int
    var intervalSeconds: Int
}

struct DeviceOutcome: Encodable {
    var state: String
    var api: String?
    var user: String?
}

struct DeviceAnswer: Encodable {
    var container: String
    var label: String
}
