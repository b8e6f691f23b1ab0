import Foundation
import RecordWire
import Testing

/// Subscriptions and tokens as clients spell them.
@Suite struct SubscriptionCodingTests {
    private func expect(
        _ request: RecordRequest, path: String, method: String = "POST", text: String
    ) throws {
        let encoded = try WireCodec.encode(request)
        #expect(encoded.path == path && encoded.method == method)
        #expect(String(decoding: encoded.body, as: UTF8.self) == text)
        #expect(
            try WireCodec.decodeRequest(path: path, method: method, body: Data(text.utf8))
                == request)
    }

    @Test func requestsTravelWhole() throws {
        var query = RecordSubscription(
            subscriptionID: "q", kind: .query(RecordQuery(recordType: "Note")))
        query.zoneWide = true
        query.firesOn = [.delete, .create]
        query.firesOnce = true
        query.notificationInfo = NotificationInfo()
        query.notificationInfo?.texts["alertBody"] = "New"
        query.notificationInfo?.lists["additionalFields"] = ["title"]
        query.notificationInfo?.flags["shouldBadge"] = true
        let zone = RecordSubscription(
            subscriptionID: "z", kind: .zone, zoneID: ZoneID(zoneName: "notes"))
        try expect(
            .modifySubscriptions([
                SubscriptionOperation(.create, query), SubscriptionOperation(.update, zone),
                SubscriptionOperation(
                    .delete, RecordSubscription(subscriptionID: "d", kind: .database)),
            ]), path: "subscriptions/modify",
            text: """
                {"operations":[{"operationType":"create","subscription":{"subscriptionID":"q",\
                "subscriptionType":"query","query":{"recordType":"Note","filterBy":[],\
                "sortBy":[]},"firesOn":["create","delete"],"zoneWide":true,"firesOnce":true,\
                "notificationInfo":{"alertBody":"New","additionalFields":["title"],\
                "shouldBadge":true}}},{"operationType":"update","subscription":\
                {"subscriptionID":"z","subscriptionType":"zone",\
                "zoneID":{"zoneName":"notes"}}},\
                {"operationType":"delete","subscription":{"subscriptionID":"d"}}]}
                """)
        try expect(
            .lookupSubscriptions(["a"]), path: "subscriptions/lookup",
            text: #"{"subscriptions":[{"subscriptionID":"a"}]}"#)
        try expect(.listSubscriptions, path: "subscriptions/list", method: "GET", text: "")
        try expect(
            .createToken(CourierToken(apnsEnvironment: "production")), path: "tokens/create",
            text: #"{"apnsEnvironment":"production"}"#)
        try expect(
            .registerToken(CourierToken(apnsEnvironment: "development", apnsToken: "t")),
            path: "tokens/register",
            text: #"{"apnsEnvironment":"development","apnsToken":"t"}"#)
    }

    @Test(arguments: [
        (#"{"operations":[{"operationType":"create","subscription":{}}]}"#, "Type is missing"),
        (
            #"{"operations":[{"operationType":"create","subscription":"#
                + #"{"subscriptionType":"zone"}}]}"#,
            "zoneID is missing"
        ),
        (
            #"{"operations":[{"operationType":"create","subscription":{"subscriptionType":"x"}}]}"#,
            "subscriptionType is x"
        ),
        (#"{"operations":[{"operationType":"drop","subscription":{}}]}"#, "operationType is drop"),
        (
            #"{"operations":[{"operationType":"create","subscription":"#
                + #"{"subscriptionType":"database","firesOn":["read"]}}]}"#, "firesOn has read"
        ),
    ])
    func whatIsWrongIsNamed(text: String, reason: String) {
        let error = #expect(throws: RecordError.self) {
            try WireCodec.decodeRequest(
                path: "subscriptions/modify", method: "POST", body: Data(text.utf8))
        }
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }

    @Test func answersTravelWhole() throws {
        let list = RecordRequest.listSubscriptions
        var error = RecordError(.notFound, "None.")
        error.subscriptionID = "x"
        let results: [SubscriptionResult] = [
            .subscription(RecordSubscription(subscriptionID: "d", kind: .database)),
            .deleted("e"), .failure(error),
        ]
        let body = try WireCodec.encode(.subscriptions(results), to: list)
        #expect(
            String(decoding: body, as: UTF8.self) == """
                {"subscriptions":[{"subscriptionID":"d","subscriptionType":"database"},\
                {"subscriptionID":"e","deleted":true},\
                {"subscriptionID":"x","serverErrorCode":"NOT_FOUND","reason":"None."}]}
                """)
        #expect(try WireCodec.decodeResponse(to: list, body) == .subscriptions(results))
        var token = CourierToken(apnsEnvironment: "development", apnsToken: "t")
        token.webcourierURL = "https://h/webcourier?token=t"
        let create = RecordRequest.createToken(CourierToken(apnsEnvironment: "development"))
        let answer = try WireCodec.encode(.courierToken(token), to: create)
        #expect(try WireCodec.decodeResponse(to: create, answer) == .courierToken(token))
        let register = RecordRequest.registerToken(token)
        #expect(try WireCodec.encode(.nothing, to: register) == Data("{}".utf8))
    }

    @Test func noticesAreSpelledAsPushes() {
        var info = NotificationInfo()
        info.texts["alertBody"] = "New"
        info.flags["shouldSendContentAvailable"] = true
        let notice = CourierNotice(
            container: "iCloud.a", database: "private", owner: "_u", subscriptionID: "s",
            cause: .record("r", .update, zoneName: "z"), info: info)
        #expect(
            String(decoding: WireCodec.encode(notice), as: UTF8.self) == """
                {"aps":{"alert":"New","content-available":1},"ck":{"ce":2,"cid":"iCloud.a",\
                "qry":{"rid":"r","fo":2,"zid":"z","zoid":"_u","dbs":2,"sid":"s"}}}
                """)
        let other = CourierNotice(
            container: "iCloud.a", database: "public", owner: "", subscriptionID: "s",
            cause: .database)
        #expect(
            String(decoding: WireCodec.encode(other), as: UTF8.self)
                == #"{"aps":{},"ck":{"ce":2,"cid":"iCloud.a","met":{"dbs":1,"sid":"s"}}}"#)
    }
}
