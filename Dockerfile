# Serves a folder with `carob serve`. The build needs no network, but wheels for the same Python:
#   python3.13 -m pip wheel --wheel-dir wheels '.[server,grpc,postgres,stats]'
#   docker build -t carob .
FROM python:3.13-slim

COPY wheels /wheels
RUN pip install --no-cache-dir --no-index --no-deps /wheels/*.whl \
    && rm -rf /wheels \
    && useradd --create-home --uid 10001 carob \
    && install --directory --owner=carob /data

USER 10001
WORKDIR /data
VOLUME /data
# Pages and REST, OTLP over HTTP, OTLP over gRPC.
EXPOSE 8001 4318 4317
# All addresses: from outside of the container, loopback cannot be reached. It demands a token.
ENTRYPOINT ["carob", "serve", "--host", "0.0.0.0"]
HEALTHCHECK --interval=30s --timeout=5s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8001/api/ready')"]
