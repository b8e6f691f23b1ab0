internal import Foundation
internal import Platform
internal import RecordService
internal import RecordWire

/// Assets on their way: a key in the address lets in whoever has it.
extension Router {
    func file(for request: HTTPRequest) throws -> (HTTPResponse, user: String) {
        guard let assets = door.assets else { throw RouteRefusal.notHere }
        let (asset, user) = try lettingIn(request) {
            let found = try assets.find(request.query["key"] ?? "")
            try throttle.check(.user(found.userRecordName))
            return (found, found.userRecordName)
        }
        throttle.charge(.user(user), since: throttle.moment())
        return (try AssetAnswer.response(with: asset, to: request), user)
    }

    /// An upload, or how far one is that broke off.
    func uploading(_ request: HTTPRequest, _ facts: inout RequestFacts) throws -> Route {
        guard let assets = door.assets else { throw RouteRefusal.notHere }
        let goesOn = !isPlain && assets.goesOn != nil
        let methods = ["POST", "PUT"] + (goesOn ? ["PATCH", "HEAD"] : [])
        guard methods.contains(request.method) else {
            throw RouteRefusal.methodNotAllowed(allowed: methods.joined(separator: ", "))
        }
        guard ["", "identity"].contains(request.headers["Content-Encoding"]?.lowercased() ?? "")
        else { throw RouteRefusal.encodedAsset }
        let span = goesOn ? try UploadHead.span(request) : nil
        guard request.headers["Content-Range"] == nil else { throw RouteRefusal.partOfAsset }
        guard try span == nil || form(in: request) == nil else { throw RouteRefusal.encodedAsset }
        let key = request.query["key"] ?? ""
        if request.method == "HEAD", let span {
            let began = throttle.moment()
            let found = try lettingIn(request) { try assets.uploaded?(key, span) }
            guard let found else { throw RouteRefusal.notHere }
            try throttle.check(.user(found.userRecordName))
            throttle.charge(.user(found.userRecordName), since: began)
            facts.user = found.userRecordName
            let bytesMax = capabilities?.limits["assetBytes"].map { Int64($0) }
            return .answered(UploadHead.answer(span, offset: found.bytes, bytesMax: bytesMax))
        }
        let upload = try upload(key, span, assets, request)
        (facts.user, facts.container) = (upload.userRecordName, upload.container)
        return .upload(upload)
    }

    /// A user's token that is shown beside the key has to be of the same user.
    private func upload(
        _ key: String, _ span: UploadSpan?, _ assets: Authenticator.Assets, _ request: HTTPRequest
    ) throws -> AssetUpload {
        try lettingIn(request) {
            let upload: AssetUpload
            do {
                // A form is longer than the asset in it.
                let length = try form(in: request) == nil ? request.headers["Content-Length"] : nil
                let announced = length.flatMap { Int64($0) }
                upload =
                    try span.flatMap { try assets.goesOn?(key, $0) }
                    ?? assets.upload(key, announced)
            } catch let mismatch as UploadOffsetMismatch {
                throw UploadHead.mismatch(mismatch.offset)
            }
            let tokens = AccessTokens(of: request, isPlain: isPlain)
            if tokens.userToken != nil,
                try door.admit(tokens, upload.container).user != upload.userRecordName
            {
                throw RecordError(.accessDenied, "The address of the upload is another user's.")
            }
            try throttle.check(.user(upload.userRecordName))
            return upload
        }
    }

    /// What takes the asset out of a form; nil where the body is the asset. Throws a 400.
    private func form(in request: HTTPRequest) throws(RouteRefusal) -> FormContent? {
        try FormContent(contentType: request.headers["Content-Type"])
    }

    func stream(
        _ upload: AssetUpload, _ request: HTTPRequest, _ uuid: String
    ) -> HTTPStream {
        // A form without a boundary was refused by its head.
        let form = try? form(in: request)
        return HTTPStream(
            user: upload.userRecordName,
            take: { bytes in
                do {
                    guard let form else {
                        try upload.take(bytes)
                        return nil
                    }
                    try form.take(bytes).withUnsafeBytes { try upload.take($0) }
                    return nil
                } catch {
                    return finished(refusal(for: error, request, uuid), request, uuid)
                }
            },
            finish: {
                let began = throttle.moment()
                defer {
                    let waited = Double(upload.millisecondsAtStore) / 1_000
                    throttle.charge(
                        .user(upload.userRecordName), since: began, elsewhere: waited)
                }
                guard upload.isLast else {
                    return finished(UploadHead.rest(at: upload.size), request, uuid)
                }
                do {
                    guard form?.isWhole != false else { throw RouteRefusal.brokenForm }
                    let body = WireCodec.encode(uploaded: try upload.finish())
                    return finished(HTTPResponse(status: 200, body: body), request, uuid)
                } catch {
                    return finished(refusal(for: error, request, uuid), request, uuid)
                }
            })
    }
}
