# skillpm and git in an image: `docker run --rm -v "$PWD:/work" IMAGE sync --frozen --project .`
FROM python:3.13-slim
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*
RUN --mount=type=bind,target=/source,rw pip install --no-cache-dir --disable-pip-version-check /source
WORKDIR /work
ENTRYPOINT ["skillpm"]
